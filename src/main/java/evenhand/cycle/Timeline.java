package evenhand.cycle;

import evenhand.facts.NodeState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;

/**
 * One placement through time: what it was and how many of its GPUs were held, cut at every instant
 * at which either changes. Where nothing is known of it, before its first span, there is no
 * segment.
 */
final class Timeline {

  /**
   * A stretch in which nothing changes.
   *
   * @param capacity 0 after its tier was taken out of the settings
   * @param held GPUs held by ours, which may be more than there are: those of a job that was there
   *     before the capacity fell
   * @param heldSince GPUs of these that were given to their job after the capacity last fell
   * @param newest the row of the one of these that began last, null when there is none
   */
  record Segment(
      Instant from,
      Instant to,
      int capacity,
      NodeState state,
      int outside,
      int held,
      int heldSince,
      Store.LedgerRow newest) {

    /** GPUs that nobody of ours holds. */
    int free() {
      return Math.max(0, capacity - held);
    }

    /** Free GPUs that jobs which are not ours use, as sampled. */
    int usedOutside() {
      return Math.min(outside, free());
    }

    /** GPUs held beyond those that there are. */
    int beyond() {
      return Math.max(0, held - capacity);
    }
  }

  /** At one instant ends come first, then what the placement is, then beginnings. */
  private record Event(Instant at, int order, Store.LedgerRow hold, Books.Span span) {}

  private Timeline() {}

  /**
   * Hands over the segments in order, none of them 0 s long.
   *
   * @param spans of one placement, in order
   * @param holds in any order
   * @param until where an open span is cut
   */
  static void walk(
      List<Books.Span> spans, List<Store.LedgerRow> holds, Instant until, Consumer<Segment> each) {
    List<Event> events = new ArrayList<>();
    for (Store.LedgerRow hold : holds) {
      if (hold.from().isBefore(hold.to())) {
        events.add(new Event(hold.from(), 2, hold, null));
        events.add(new Event(hold.to(), 0, hold, null));
      }
    }
    for (int i = 0; i < spans.size(); i++) {
      Books.Span span = spans.get(i);
      events.add(new Event(span.from(), 1, null, span));
      boolean last = i + 1 == spans.size();
      if (span.to() != null && (last || !spans.get(i + 1).from().equals(span.to()))) {
        events.add(
            new Event(
                span.to(),
                1,
                null,
                new Books.Span(
                    span.id(), span.node(), span.tier(), 0, NodeState.DOWN, 0, span.to(), null)));
      }
    }
    // Stable: spans of one instant stay in their order.
    events.sort(Comparator.comparing(Event::at).thenComparingInt(Event::order));
    Books.Span now = null;
    Instant fell = Instant.MIN;
    int held = 0;
    int heldSince = 0;
    Store.LedgerRow newest = null;
    for (int i = 0; i < events.size(); i++) {
      Event event = events.get(i);
      if (event.span() != null) {
        if (now != null && event.span().capacity() < now.capacity()) {
          fell = event.at();
          heldSince = 0;
        }
        now = event.span();
      } else if (event.order() == 2) {
        held += event.hold().gpus();
        if (!event.hold().given().isBefore(fell)) {
          heldSince += event.hold().gpus();
          newest = event.hold();
        }
      } else {
        held -= event.hold().gpus();
        heldSince -= event.hold().given().isBefore(fell) ? 0 : event.hold().gpus();
      }
      Instant next = i + 1 < events.size() ? events.get(i + 1).at() : until;
      Instant to = next.isBefore(until) ? next : until;
      if (now != null && event.at().isBefore(to)) {
        each.accept(
            new Segment(
                event.at(),
                to,
                now.capacity(),
                now.state(),
                now.outside(),
                held,
                heldSince,
                heldSince > 0 ? newest : null));
      }
    }
  }
}
