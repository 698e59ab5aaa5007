package evenhand.policy;

import java.util.List;
import java.util.Set;

/**
 * What the rules look at that judge running work (K2 to K8): where that is nothing but the request
 * and the work itself, one judgement serves for all jobs that ask for the same.
 *
 * @param seesPlacements whether they look at the board
 * @param byRequest whether they look at nothing that differs between two turns of one request in a
 *     cycle
 * @param countsRefusing whether any rule of a turn looks at what an account holds by work that
 *     refuses to be preempted (PR4)
 * @param claims whether the first job may claim GPUs (G1)
 */
record Judging(boolean seesPlacements, boolean byRequest, boolean countsRefusing, boolean claims) {
  static Judging of(Loaded loaded) {
    Set<String> named = loaded.names(s -> s == Stage.SHIELD || s == Stage.PREEMPT);
    boolean placements =
        named(named, "Placement", "PlacementGroup", "Available", "Fit", "Veto", "Standing");
    return new Judging(
        placements,
        !placements
            && !named(
                named,
                "first",
                "firstJob",
                "startsBefore",
                "waitingBefore",
                "reservation",
                "held",
                "refusingHeld"),
        loaded.names(Stage::ofTurn).contains("refusingHeld"),
        loaded.claims());
  }

  private static boolean named(Set<String> named, String... words) {
    return List.of(words).stream().anyMatch(named::contains);
  }
}
