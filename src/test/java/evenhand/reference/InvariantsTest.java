package evenhand.reference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import evenhand.facts.NodeState;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.outcomes.Absorb;
import evenhand.outcomes.Charge;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.HoldingCost;
import evenhand.outcomes.Outcome;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Release;
import evenhand.outcomes.Reserve;
import evenhand.outcomes.Start;
import evenhand.outcomes.Wait;
import evenhand.outcomes.Yield;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Each invariant fails on a decision doctored to break it, and names its clause. */
class InvariantsTest {
  private static final World WORLD =
      new World()
          .tier("4090", 20, 82.6)
          .tier("5090", 30, 104.8)
          .place("p", "4090", 4, 2)
          .place("q", "4090", 2, 2)
          .place("d", "5090", 4, 4, NodeState.DRAINING)
          .account("BCG", 0)
          .account("KDG", 5)
          .job("a", "BCG", 4)
          .holds("a", "p", "4090", 2, 10)
          .job("b", "KDG", 2)
          .job("c", "KDG", 2);
  private static final Snapshot SNAPSHOT = WORLD.snapshot();
  private static final Decision GOOD = PlainReading.decide(SNAPSHOT);

  private static final Decided A = GOOD.outcomes().get(0);
  private static final Decided B = GOOD.outcomes().get(1);
  private static final Decided C = GOOD.outcomes().get(2);

  @Test
  void theDecisionBeforeItIsDoctored() {
    assertEquals(
        List.of(
            "wait a GATHERING by D2",
            "start b on q/4090 x2 by D1",
            "wait c HELD_BY_RESERVATION behind a by D5"),
        OutcomeText.lines(GOOD.outcomes()));
    assertEquals(List.of(), Invariants.violations(SNAPSHOT, GOOD));
  }

  @Test
  void aJobWithoutAVerdict() {
    assertBreaks("D4", A, B);
  }

  @Test
  void aJobWithTwoVerdicts() {
    assertBreaks("D4", A, B, C, C);
  }

  @Test
  void aVerdictForAJobThatIsNotQueued() {
    assertBreaks("D4", A, B, C, by("D4", new Wait("z", "NO_IDLE", null, "")));
  }

  @Test
  void verdictsOutOfOrder() {
    assertBreaks("D4", B, A, C);
  }

  @Test
  void aGpuGivenTwice() {
    assertBreaks("C6", A, B, start("c", "q", 2));
    assertBreaks("V1", A, B, start("c", "q", 2));
  }

  @Test
  void aReservedGpuGivenToALaterJob() {
    assertBreaks("D5", A, B, start("c", "p", 2));
  }

  @Test
  void aReservedGpuGivenAfterAReleaseThatComesTooLate() {
    // In the end the sums are right; only the order is not.
    Decided release = by("R3", new Release("a", "p", tier("4090"), 2));
    Decided charge = by("C4", new Charge("BCG", "a", 1652));
    assertBreaks("D5", A, B, start("c", "p", 2), release, charge);
    assertBreaks("R3", A, B, start("c", "p", 2), release, charge);
  }

  @Test
  void aStartOnANodeThatIsNotUp() {
    Decided onDraining = by("D1", new Start("c", List.of(new Share("d", tier("5090"), 2))));
    assertBreaks("X1", A, B, onDraining);
  }

  @Test
  void aStartOnAPlacementThatIsNotThere() {
    assertBreaks("V1", A, B, start("c", "nowhere", 2));
  }

  @Test
  void aStartWithFewerGpusThanAskedFor() {
    assertBreaks("D1", A, start("b", "q", 1), C);
  }

  @Test
  void aStartWhereItDoesNotFit() {
    Snapshot named =
        new World()
            .tier("4090", 20, 82.6)
            .tier("5090", 30, 104.8)
            .place("p", "4090", 2, 2)
            .account("BCG", 0)
            .jobOn("5090", "a", "BCG", 2)
            .snapshot();
    assertTrue(
        broken(named, decision(PlainReading.decide(named), start("a", "p", 2))).contains("F1"));
  }

  @Test
  void aStartThatKeepsItsReservation() {
    Snapshot snapshot = swap();
    Decision good = PlainReading.decide(snapshot);
    assertEquals(List.of(), Invariants.violations(snapshot, good));
    assertTrue(broken(snapshot, decision(good, good.outcomes().get(0))).contains("W1"));
  }

  @Test
  void aReleaseOfAnotherNumberThanHeld() {
    Snapshot snapshot = swap();
    Decision good = PlainReading.decide(snapshot);
    Decided more = by("W1", new Release("a", "p", tier("4090"), 2));
    assertTrue(broken(snapshot, decision(good, good.outcomes().get(0), more)).contains("R1"));
  }

  @Test
  void aSecondReservationOfOneJob() {
    assertBreaks("R1", by("D3", new Reserve("a", "q", tier("4090"), 2)), B, C);
  }

  @Test
  void aReservationOfALaterJob() {
    assertBreaks("R2", A, B, by("D3", new Reserve("c", "q", tier("4090"), 1)));
  }

  @Test
  void anAbsorptionElsewhereThanItHolds() {
    assertBreaks("D2", by("D2", new Absorb("a", "q", tier("4090"), 1)), B, C);
  }

  @Test
  void anAbsorptionOfWhatIsNotIdle() {
    assertBreaks("V1", by("D2", new Absorb("a", "p", tier("4090"), 1)), B, C);
  }

  @Test
  void aD2StartElsewhereThanItHolds() {
    Decided start = by("D2", new Start("a", List.of(new Share("q", tier("4090"), 4))));
    assertBreaks("D2", start, B, C);
  }

  @Test
  void aChargeWithoutAForcedRelease() {
    assertBreaks("C4", by("C4", new Charge("BCG", "a", 1652)), A, B, C);
  }

  @Test
  void aForcedReleaseWithoutACharge() {
    assertBreaks("C4", by("R5", new Release("a", "p", tier("4090"), 2)), A, B, C);
  }

  @Test
  void aChargeToAnotherAccount() {
    assertBreaks(
        "C6",
        by("R5", new Release("a", "p", tier("4090"), 2)),
        by("C4", new Charge("KDG", "a", 1652)),
        A,
        B,
        C);
  }

  @Test
  void aChargeThatIsNoAmount() {
    for (double amount : new double[] {-1, Double.NaN, Double.POSITIVE_INFINITY}) {
      assertThrows(IllegalArgumentException.class, () -> new Charge("BCG", "a", amount));
      assertThrows(IllegalArgumentException.class, () -> new Charge("BCG", "a", 1, amount));
    }
  }

  @Test
  void aHolderThatIsNotFirstAndOneWhosePlacementIsGone() {
    Snapshot snapshot =
        new World()
            .tier("4090", 20, 82.6)
            .place("p", "4090", 4, 1)
            .place("q", "4090", 4, 1, NodeState.DOWN)
            .account("BCG", 0)
            .job("a", "BCG", 4)
            .holds("a", "q", "4090", 1, 10)
            .job("b", "BCG", 4)
            .holds("b", "p", "4090", 1, 10)
            .snapshot();
    Decision good = PlainReading.decide(snapshot);
    Decision keeps =
        decision(
            good,
            by("D2", new Wait("a", "GATHERING", null, "")),
            by("D2", new Wait("b", "GATHERING", null, "")));
    assertTrue(broken(snapshot, keeps).containsAll(List.of("R5", "R3")));
  }

  @Test
  void aJobThatWaitsBesideWhatItCouldUse() {
    assertBreaks("D1", A, by("D4", new Wait("b", "NO_IDLE", null, "")), C);
  }

  @Test
  void aPreemption() {
    assertBreaks("K4", A, B, C, by("K4", new Preempt("r", "c")));
  }

  @Test
  void anAccrualThatIsMissingDoubledOrNotHeld() {
    HoldingCost held = GOOD.accruals().get(0);
    HoldingCost other =
        new HoldingCost(
            held.kind(),
            "b",
            "KDG",
            held.node(),
            held.tier(),
            held.gpus(),
            held.from(),
            held.to(),
            held.tflopSeconds());
    for (List<HoldingCost> accruals :
        List.of(List.<HoldingCost>of(), List.of(held, held), List.of(held, other))) {
      Decision doctored =
          new Decision(
              GOOD.policy(),
              GOOD.policyHash(),
              GOOD.snapshotHash(),
              GOOD.now(),
              GOOD.outcomes(),
              accruals,
              GOOD.yields());
      assertTrue(broken(SNAPSHOT, doctored).contains("C1"));
    }
  }

  @Test
  void aYieldThatIsMissingOrTooMany() {
    Yield yield = GOOD.yields().get(0);
    for (List<Yield> yields : List.of(List.<Yield>of(), List.of(yield, yield))) {
      Decision doctored =
          new Decision(
              GOOD.policy(),
              GOOD.policyHash(),
              GOOD.snapshotHash(),
              GOOD.now(),
              GOOD.outcomes(),
              GOOD.accruals(),
              yields);
      assertTrue(broken(SNAPSHOT, doctored).contains("B2"));
    }
  }

  /** A holder on p that starts on q. */
  private static Snapshot swap() {
    return new World()
        .tier("4090", 20, 82.6)
        .place("p", "4090", 2, 1)
        .place("q", "4090", 2, 2)
        .account("BCG", 0)
        .job("a", "BCG", 2)
        .holds("a", "p", "4090", 1, 10)
        .snapshot();
  }

  private static void assertBreaks(String clause, Decided... outcomes) {
    List<String> broken = broken(SNAPSHOT, decision(GOOD, outcomes));
    assertTrue(broken.contains(clause), clause + " is not among " + broken);
  }

  /** The clauses whose breach is told. */
  private static List<String> broken(Snapshot snapshot, Decision decision) {
    List<String> clauses = new ArrayList<>();
    for (String violation : Invariants.violations(snapshot, decision)) {
      clauses.addAll(List.of(violation.substring(0, violation.indexOf(':')).split(", ")));
    }
    return clauses;
  }

  /** The good decision with other outcomes, and the yields that go with their starts. */
  private static Decision decision(Decision good, Decided... outcomes) {
    List<Yield> yields = new ArrayList<>();
    for (Decided decided : outcomes) {
      if (decided.outcome() instanceof Start start) {
        for (Share share : start.on()) {
          yields.add(new Yield(start.job(), share.node(), share.tier().name(), share.gpus()));
        }
      }
    }
    return new Decision(
        good.policy(),
        good.policyHash(),
        good.snapshotHash(),
        good.now(),
        List.of(outcomes),
        good.accruals(),
        yields);
  }

  private static Decided start(String job, String node, int gpus) {
    return by("D1", new Start(job, List.of(new Share(node, tier("4090"), gpus))));
  }

  private static Decided by(String rule, Outcome outcome) {
    return new Decided(outcome, rule);
  }

  private static Tier tier(String name) {
    for (Tier tier : SNAPSHOT.tiers()) {
      if (tier.name().equals(name)) {
        return tier;
      }
    }
    throw new IllegalArgumentException(name);
  }
}
