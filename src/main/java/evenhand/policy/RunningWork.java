package evenhand.policy;

import evenhand.facts.Running;
import evenhand.facts.Share;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Running work, with what is looked up about each of it once and not in every cycle: where it is on
 * the board, and the number of its account. What stays from one snapshot to the next shows by
 * identity, for facts never change.
 */
final class RunningWork {
  private final Map<String, Integer> accounts = new HashMap<>();
  private Board board;
  private List<One> all = List.of();

  /**
   * One job that runs.
   *
   * @param places the numbers of its placements on the board, -1 for one that is not there, and
   *     {@code gpus} what it holds of each
   * @param account a number, the same for all work of its account
   */
  record One(Running running, int[] places, int[] gpus, int account) {}

  /** All of this work, in its order. */
  List<One> on(Board where, List<Running> work) {
    List<One> now = new ArrayList<>(work.size());
    int next = board == where ? 0 : all.size();
    board = where;
    for (Running r : work) {
      int found = next;
      while (found < all.size() && all.get(found).running != r) {
        found++;
      }
      if (found < all.size()) {
        now.add(all.get(found));
        next = found + 1;
      } else {
        now.add(one(r));
      }
    }
    all = now;
    return now;
  }

  /** How many accounts have a number. */
  int accounts() {
    return accounts.size();
  }

  private One one(Running r) {
    List<Share> on = r.on();
    int[] places = new int[on.size()];
    int[] gpus = new int[on.size()];
    for (int k = 0; k < places.length; k++) {
      places[k] = board.number(on.get(k).node(), on.get(k).tier());
      gpus[k] = on.get(k).gpus();
    }
    return new One(r, places, gpus, accounts.computeIfAbsent(r.account(), a -> accounts.size()));
  }
}
