package evenhand.cycle.events;

import java.util.Set;

/**
 * Which events are meant.
 *
 * @param kinds empty for all
 * @param account null for all
 * @param job null for all
 */
public record EventFilter(Set<Event.Kind> kinds, String account, String job) {
  public static final EventFilter ALL = new EventFilter(Set.of(), null, null);

  public EventFilter {
    kinds = Set.copyOf(kinds);
  }

  public boolean means(Event event) {
    return (kinds.isEmpty() || kinds.contains(event.kind()))
        && (account == null || account.equals(event.account()))
        && (job == null || job.equals(event.job()));
  }
}
