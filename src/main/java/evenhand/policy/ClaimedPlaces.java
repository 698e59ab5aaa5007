package evenhand.policy;

import evenhand.facts.Claim;
import evenhand.facts.Placement;
import evenhand.facts.Running;
import evenhand.facts.Share;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a claim leaves of its placements for others (G3): as much as is claimed stays in reach of
 * the claim, idle or held by work that leaves for it. The rest is anybody's.
 *
 * <p>While the claimer itself has its turn, all that is idle there is idle to it.
 */
final class ClaimedPlaces {
  private final Claim claim;
  private final Map<Integer, Place> places = new HashMap<>();
  private boolean claimersTurn;

  private static final class Place {
    private final int claimed;
    private int idle;
    private int firm;

    /**
     * @param idle there, claimed or not
     * @param firm held there by work that the claim cannot count on
     */
    Place(int claimed, int idle, int firm) {
      this.claimed = claimed;
      this.idle = idle;
      this.firm = firm;
    }
  }

  /**
   * @param running work that has not left yet
   */
  ClaimedPlaces(Claim claim, Board board, List<Running> running) {
    this.claim = claim;
    ClaimedWork work = new ClaimedWork(claim, running);
    for (Share share : claim.on()) {
      int number = board.number(share.node(), share.tier());
      if (number < 0) {
        continue;
      }
      Placement p = board.at(number);
      // What is neither idle nor known is held by jobs from outside.
      int others =
          p.capacity() - p.idle() - p.reserved() - work.yieldingOn(share.node(), share.tier());
      int firm = Math.max(work.firmOn(share.node(), share.tier()), others);
      places.put(number, new Place(share.gpus(), p.idle(), firm));
    }
  }

  Claim claim() {
    return claim;
  }

  /** Numbers of the placements. */
  int[] numbers() {
    return places.keySet().stream().mapToInt(Integer::intValue).sorted().toArray();
  }

  boolean has(int number) {
    return places.containsKey(number);
  }

  void claimersTurn(boolean its) {
    claimersTurn = its;
  }

  /** GPUs that are idle there, claimed or not. */
  int idle(int number) {
    return places.get(number).idle;
  }

  /** So many more are idle there; by work that the claim cannot count on, or by other. */
  void change(int number, int idleBy, boolean firm) {
    Place place = places.get(number);
    place.idle += idleBy;
    place.firm -= firm ? idleBy : 0;
  }

  /** The placement as others see it, with so much reserved. */
  Placement shown(int number, Placement p, int reserved, String heldFor) {
    Place place = places.get(number);
    int left = p.capacity() - reserved - place.firm - place.claimed;
    int free = claimersTurn ? place.idle : Math.max(0, Math.min(place.idle, left));
    return new Placement(p.node(), p.group(), free, reserved, heldFor, 1, place.idle - free);
  }
}
