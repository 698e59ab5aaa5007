package evenhand.cycle.events;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Follows the log for all who listen in this process: one look at the memory serves them all. Of
 * the newest events some are kept at hand; who is further behind is served from the memory.
 */
public final class EventFeed {
  private static final int AT_HAND = 2_000;
  private static final int PART = 1_000;

  private final EventLog log;
  private final ArrayDeque<Event> newest = new ArrayDeque<>();
  private final AtomicLong cycles = new AtomicLong();
  private long settled = -1;
  private long from = Long.MAX_VALUE;

  public EventFeed(EventLog log) {
    this.log = log;
  }

  public EventLog log() {
    return log;
  }

  /** A cycle has ended in this process: what stands may be other than before. */
  public void cycled() {
    cycles.incrementAndGet();
  }

  /** How many cycles have ended here. */
  public long cycles() {
    return cycles.get();
  }

  /** Looks for new events; gives the id up to which all are there. */
  public synchronized long look() {
    long now = log.settled();
    if (settled < 0) {
      settled = now;
      from = now;
    }
    while (settled < now) {
      List<Event> found = log.forward(settled, now, EventFilter.ALL, PART);
      newest.addAll(found);
      settled = found.size() < PART ? now : found.get(found.size() - 1).id();
      while (newest.size() > AT_HAND) {
        from = newest.removeFirst().id();
      }
    }
    return settled;
  }

  /** The id up to which the last look found everything. */
  public synchronized long settled() {
    return settled;
  }

  /**
   * What comes after an event, as far as the last look saw.
   *
   * @param after id of the last event that is known, 0 for all that are remembered
   * @param limit most of them
   */
  public Part after(long after, EventFilter filter, int limit) {
    List<Event> found;
    long upTo;
    synchronized (this) {
      upTo = settled;
      if (upTo <= after) {
        return new Part(List.of(), after);
      }
      found = after >= from ? atHand(after, filter, limit) : null;
    }
    if (found == null) {
      found = log.forward(after, upTo, filter, limit);
    }
    return new Part(found, found.size() < limit ? upTo : found.get(found.size() - 1).id());
  }

  private List<Event> atHand(long after, EventFilter filter, int limit) {
    List<Event> found = new ArrayList<>();
    for (Event event : newest) {
      if (event.id() > after && filter.means(event) && found.size() < limit) {
        found.add(event);
      }
    }
    return found;
  }

  /**
   * Some events.
   *
   * @param next the id after which to go on
   */
  public record Part(List<Event> events, long next) {}
}
