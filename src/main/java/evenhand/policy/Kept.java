package evenhand.policy;

import evenhand.facts.PlacementGroup;
import evenhand.facts.Request;
import evenhand.facts.Reservation;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What one cycle leaves to the next: the line of those who wait, and a working memory that shows
 * the board. The next cycle is told what has changed since, and decides what one would that begins
 * with nothing.
 *
 * <p>Where tiers, nodes or their states change, or the rules do not allow it ({@link
 * Matching#cyclesGoOn}), the working memory and the board are new ones.
 */
final class Kept implements AutoCloseable {
  /** A working memory is used no longer than this, and holds no more requests. */
  private static final int MOST_CYCLES = 2000;

  private static final int MOST_REQUESTS = 1000;

  private final Loaded loaded;
  private final Sessions sessions;
  private final WaitingLine line;
  private final RunningWork works = new RunningWork();
  private final Set<Request> requests = new HashSet<>();
  private Firing firing;
  private Board board;
  private List<Tier> tiers;
  private Set<PlacementGroup> groups;
  private int cycles;

  Kept(Loaded loaded, Sessions sessions) {
    this.loaded = loaded;
    this.sessions = sessions;
    this.line = new WaitingLine(loaded.order());
  }

  /** A cycle begins on this snapshot. */
  void begin(Snapshot snapshot) {
    line.follow(snapshot);
    if (board != null
        && (!sessions.matching().cyclesGoOn()
            || ++cycles > MOST_CYCLES
            || requests.size() > MOST_REQUESTS
            || !tiers.equals(snapshot.tiers())
            || !board.isOf(snapshot.placements()))) {
      close();
    }
    if (firing == null) {
      firing = new Firing(sessions);
    }
  }

  /** Whether any rule belongs to this stage. */
  boolean has(Stage stage) {
    return sessions.has(stage);
  }

  WaitingLine line() {
    return line;
  }

  RunningWork works() {
    return works;
  }

  Firing firing() {
    return firing;
  }

  /** The groups that the snapshot's placements are of. */
  Set<PlacementGroup> groups() {
    return groups;
  }

  /**
   * The board as it stands at the beginning of the cycle.
   *
   * @param reservations those that stand
   */
  Board board(Snapshot snapshot, Collection<Reservation> reservations) {
    if (board != null) {
      board.follow(snapshot, reservations);
      return board;
    }
    tiers = snapshot.tiers();
    groups = DroolsPolicy.groups(snapshot.placements());
    Board made =
        new Board(snapshot, reservations, firing, loaded.nodesMatter(), loaded.countAlike());
    firing.begin(
        () -> {
          made.begin();
          tiers.forEach(firing::insert);
          groups.forEach(firing::insert);
        });
    board = made;
    return made;
  }

  /** Whether rules were not shown this request before; they are from now on. */
  boolean isNew(Request request) {
    return requests.add(request);
  }

  /** The cycle is over. */
  void end() {
    if (board.claims()) {
      board.unclaim();
    }
    firing.endCycle();
  }

  @Override
  public void close() {
    if (firing != null) {
      firing.close();
    }
    firing = null;
    board = null;
    requests.clear();
    cycles = 0;
  }
}
