package evenhand.reference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import evenhand.facts.Account;
import evenhand.facts.Reservation;
import evenhand.facts.Snapshot;
import evenhand.outcomes.Decision;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The plain reading on the cases written by hand, and at its own edges. */
class PlainReadingTest extends HandMadeCases {

  @Override
  Decision decide(Snapshot snapshot) {
    return PlainReading.decide(snapshot);
  }

  @Test
  void aCompleteReservationStarts() {
    // No cycle leaves one behind; D2 read to the letter starts it with nothing idle.
    Snapshot snapshot =
        new World()
            .tier("4090", 20, 82.6)
            .place("p", "4090", 2, 2)
            .account("BCG", 0)
            .job("a", "BCG", 2)
            .holds("a", "p", "4090", 2, 5)
            .snapshot();
    assertEquals(
        List.of("start a on p/4090 x2 by D2"),
        OutcomeText.lines(PlainReading.decide(snapshot).outcomes()));
  }

  @Test
  void aReservationOfAJobThatIsNotQueuedIsRefused() {
    Snapshot queued =
        new World()
            .tier("4090", 20, 82.6)
            .place("p", "4090", 2, 1)
            .account("BCG", 0)
            .job("a", "BCG", 2)
            .holds("a", "p", "4090", 1, 5)
            .snapshot();
    Reservation held = queued.reservations().get(0);
    Snapshot orphaned =
        new Snapshot(
            queued.policy(),
            queued.now(),
            queued.cluster(),
            queued.tiers(),
            queued.placements(),
            List.of(new Account("BCG", null, 1, 0, 0)),
            List.of(),
            List.of(held),
            List.of());
    assertThrows(IllegalArgumentException.class, () -> PlainReading.decide(orphaned));
  }

  @Test
  void theOrderOfIdsIsTotal() {
    List<String> ordered = List.of("0", "7", "07", "8", "10", "1e1", "A", "a", "a1", "a10", "a2");
    for (int i = 0; i < ordered.size(); i++) {
      for (int j = 0; j < ordered.size(); j++) {
        int expected = Integer.signum(Integer.compare(i, j));
        // 7 and 07 are one number, so their spelling decides: "07" is less than "7".
        if (ordered.get(i).matches("0?7") && ordered.get(j).matches("0?7")) {
          expected = -expected;
        }
        int actual = Integer.signum(PlainReading.compareIds(ordered.get(i), ordered.get(j)));
        assertEquals(expected, actual, ordered.get(i) + " and " + ordered.get(j));
      }
    }
    assertTrue(PlainReading.compareIds("999", "a") < 0);
  }
}
