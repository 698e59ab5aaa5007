package evenhand.cycle.events;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** The events that are remembered. Each method is one transaction. */
public interface EventLog {

  /**
   * The highest id up to which everything is there: no transaction under way can still write one as
   * low. Readers that go forward read no further, or they would pass over events that are committed
   * out of the order of their ids. It never goes back.
   */
  long settled();

  /**
   * Events with ids above {@code after} and up to {@code upTo}, lowest first.
   *
   * @param limit most of them
   */
  List<Event> forward(long after, long upTo, EventFilter filter, int limit);

  /**
   * Events, newest first.
   *
   * @param before only ids below this one; {@link Long#MAX_VALUE} for the newest
   */
  List<Event> back(EventFilter filter, int limit, long before);

  /** How far a webhook was told; empty for one that never was. */
  Optional<Cursor> cursor(String hook);

  /**
   * Notes how far a webhook was told, and what came of it.
   *
   * @param was the last event it was told before, null for one that is new
   * @return whether it still was so; else another process tells it, and nothing was noted
   */
  boolean move(Cursor now, Long was);

  /**
   * How far a webhook was told.
   *
   * @param last id of the last event that it was told, or that was given up
   * @param tries how often the event after that was tried
   * @param failingSince when it was tried first; null when it was not
   * @param nextTryAt when it is tried again; null for at once
   * @param answer what came of the last try, or null
   */
  record Cursor(
      String hook, long last, int tries, Instant failingSince, Instant nextTryAt, String answer) {}
}
