package evenhand.api;

import evenhand.cycle.events.Event;
import evenhand.cycle.events.EventFilter;
import evenhand.cycle.events.EventLog;
import java.util.List;
import java.util.Optional;

/** A log of events for tests that are about something else. */
final class NothingHappens implements EventLog {
  @Override
  public long settled() {
    return 0;
  }

  @Override
  public List<Event> forward(long after, long upTo, EventFilter filter, int limit) {
    return List.of();
  }

  @Override
  public List<Event> back(EventFilter filter, int limit, long before) {
    return List.of();
  }

  @Override
  public Optional<Cursor> cursor(String hook) {
    return Optional.empty();
  }

  @Override
  public boolean move(Cursor now, Long was) {
    return false;
  }
}
