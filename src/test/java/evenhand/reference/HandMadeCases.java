package evenhand.reference;

import static evenhand.facts.NodeState.DOWN;
import static evenhand.facts.NodeState.DRAINING;
import static evenhand.facts.NodeState.UP;
import static org.junit.jupiter.api.Assertions.assertEquals;

import evenhand.facts.Cost;
import evenhand.facts.Snapshot;
import evenhand.outcomes.Charge;
import evenhand.outcomes.Decision;
import evenhand.outcomes.Yield;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The scenarios S1 to S15 that one cycle can show, and the edge of each clause, with the outcomes
 * written out by hand. Whoever decides them, the plain reading or the rules, must give exactly
 * these.
 */
abstract class HandMadeCases {

  abstract Decision decide(Snapshot snapshot);

  private Decision expect(World world, String... lines) {
    Snapshot snapshot = world.snapshot();
    Decision decision = decide(snapshot);
    assertEquals(
        String.join("\n", lines), String.join("\n", OutcomeText.lines(decision.outcomes())));
    assertEquals(List.of(), Invariants.violations(snapshot, decision));
    return decision;
  }

  /** Three tiers, two labs: BCG with 24,000 comes before KDG with 28,000. */
  private static World labs() {
    return new World()
        .tier("3080ti", 10, 34.1)
        .tier("4090", 20, 82.6)
        .tier("5090", 30, 104.8)
        .account("BCG", 24_000)
        .account("KDG", 28_000);
  }

  // ---- the scenarios S1 to S15

  @Test
  void s1StartsWhereEnoughIsIdle() {
    expect(
        labs().place("p", "4090", 2, 2).job("jobA", "BCG", 2), //
        "start jobA on p/4090 x2 by D1");
  }

  @Test
  void s2ReservesWhatIsIdle() {
    expect(
        labs().place("p", "4090", 2, 1).job("jobA", "BCG", 2).job("jobB", "KDG", 1),
        "reserve jobA on p/4090 x1 by D3",
        "wait jobB HELD_BY_RESERVATION behind jobA by D5");
  }

  @Test
  void s3AbsorbsTheRestAndStarts() {
    expect(
        labs()
            .place("p", "4090", 2, 2)
            .job("jobA", "BCG", 2)
            .holds("jobA", "p", "4090", 1, 5)
            .job("jobB", "KDG", 1),
        "start jobA on p/4090 x2 by D2",
        "wait jobB NO_IDLE by D4");
  }

  @Test
  void s4StartsElsewhereAndTheNextJobTakesWhatItHeld() {
    expect(
        labs()
            .place("p", "4090", 2, 1)
            .place("q", "4090", 2, 2)
            .job("jobA", "BCG", 2)
            .holds("jobA", "p", "4090", 1, 5)
            .job("jobB", "KDG", 1),
        "start jobA on q/4090 x2 by D1",
        "release jobA on p/4090 x1 by W1",
        "start jobB on p/4090 x1 by D1");
  }

  @Test
  void s5LosesItsReservationWhenItsLabIsCharged() {
    // 24,000 + 8,000 of job Y put BCG behind KDG.
    Decision decision =
        expect(
            new World()
                .tier("4090", 20, 82.6)
                .place("p", "4090", 2, 1)
                .account("BCG", 32_000)
                .account("KDG", 28_000)
                .job("jobA", "BCG", 2)
                .holds("jobA", "p", "4090", 1, 300)
                .job("jobK", "KDG", 1),
            "release jobA on p/4090 x1 by R3",
            "charge BCG 24780.0 for jobA by C4",
            "start jobK on p/4090 x1 by D1",
            "wait jobA NOT_FIRST behind jobK by R2");
    double charged = ((Charge) decision.outcomes().get(1).outcome()).tflopSeconds();
    assertEquals(56_780, 32_000 + charged);
  }

  @Test
  void s5ReservesAgainFromNothingWhenItIsFirstAgain() {
    expect(
        new World()
            .tier("4090", 20, 82.6)
            .place("p", "4090", 2, 1)
            .account("BCG", 56_780)
            .account("KDG", 60_000)
            .job("jobA", "BCG", 2)
            .job("jobK", "KDG", 1),
        "reserve jobA on p/4090 x1 by D3",
        "wait jobK HELD_BY_RESERVATION behind jobA by D5");
  }

  @Test
  void s6NeverSpreadsOverTwoNodes() {
    expect(
        labs().place("n2", "4090", 2, 1).place("n1", "4090", 2, 1).job("jobA", "BCG", 2),
        "reserve jobA on n1/4090 x1 by D3");
  }

  @Test
  void s7OneNodeWithTwoTiersIsTwoPlacements() {
    expect(
        labs()
            .place("x", "4090", 4, 4)
            .place("x", "5090", 4, 4)
            .job("jobA", "BCG", 4)
            .job("jobC", "BCG", 4)
            .job("jobB", "KDG", 8),
        "start jobA on x/5090 x4 by D1",
        "start jobC on x/4090 x4 by D1",
        "wait jobB NO_FIT by N6");
  }

  @Test
  void s8TheSecondMayNotReserve() {
    expect(
        labs()
            .place("p", "4090", 2, 1)
            .place("q", "4090", 2, 1)
            .job("jobA", "BCG", 2)
            .holds("jobA", "p", "4090", 1, 5)
            .jobOn("5090", "jobX", "BCG", 2)
            .job("jobB", "KDG", 2)
            .place("r", "5090", 2, 1),
        "wait jobA GATHERING by D2",
        "wait jobX NOT_FIRST behind jobA by R2",
        "wait jobB NOT_FIRST behind jobA by R2");
  }

  @Test
  void s9AJobOfOneGpuTakesWhatIsLeftElsewhere() {
    expect(
        labs()
            .place("p", "4090", 2, 1)
            .place("q", "3080ti", 2, 2)
            .jobFrom(20, "jobA", "BCG", 2)
            .holds("jobA", "p", "4090", 1, 5)
            .job("jobB", "KDG", 1)
            .job("jobC", "KDG", 1),
        "wait jobA GATHERING by D2",
        "start jobB on q/3080ti x1 by D1",
        "start jobC on q/3080ti x1 by D1");
  }

  @Test
  void s10AfterRunningOutOfMemoryOnlyHigherTiersAreTaken() {
    expect(
        labs().place("p", "3080ti", 2, 2).place("q", "4090", 2, 1).jobFrom(20, "jobA", "BCG", 2),
        "reserve jobA on q/4090 x1 by D3");
  }

  @Test
  void s12LosesItsReservationWithItsNode() {
    expect(
        labs()
            .place("p", "4090", 2, 1, DOWN)
            .place("q", "4090", 2, 1)
            .job("jobA", "BCG", 2)
            .holds("jobA", "p", "4090", 1, 300),
        "release jobA on p/4090 x1 by R5",
        "charge BCG 24780.0 for jobA by C4",
        "reserve jobA on q/4090 x1 by D3");
  }

  @Test
  void s14GpusUnderLlmBackfillAreIdleAndAreYielded() {
    Decision decision =
        expect(
            labs().place("p", "4090", 2, 2).job("jobA", "BCG", 2), "start jobA on p/4090 x2 by D1");
    assertEquals(List.of(new Yield("jobA", "p", "4090", 2)), decision.yields());
  }

  @Test
  void s15AfterOneJobOfFiveTheOtherLabComesFirst() {
    // 2 GPUs for 30 minutes: 297,360 on top of 24,000.
    double cost = Cost.tflopSeconds(2, World.NOW.minusSeconds(1800), World.NOW, 82.6);
    assertEquals(297_360, cost);
    expect(
        new World()
            .tier("4090", 20, 82.6)
            .place("p", "4090", 2, 2)
            .account("BCG", 24_000 + cost)
            .account("KDG", 30_000)
            .job("A2", "BCG", 2)
            .job("A3", "BCG", 2)
            .job("K1", "KDG", 2),
        "start K1 on p/4090 x2 by D1",
        "wait A2 NOT_FIRST behind K1 by R2",
        "wait A3 NOT_FIRST behind K1 by R2");
  }

  // ---- Q2

  @Test
  void q2UsageComesBeforeTimeAndTimeBeforeId() {
    expect(
        labs()
            .place("p", "4090", 8, 0)
            .job("b", "KDG", 1, World.NOW.minusSeconds(900))
            .job("c", "BCG", 1, World.NOW.minusSeconds(20))
            .job("a", "BCG", 1, World.NOW.minusSeconds(10))
            .job("d", "BCG", 1, World.NOW.minusSeconds(20)),
        "wait c NO_IDLE by D4",
        "wait d NO_IDLE by D4",
        "wait a NO_IDLE by D4",
        "wait b NO_IDLE by D4");
  }

  @Test
  void q2EqualUsageOfTwoLabsIsDecidedByTime() {
    expect(
        labs()
            .account("LDS", 24_000)
            .place("p", "4090", 8, 0)
            .job("b", "BCG", 1, World.NOW.minusSeconds(10))
            .job("l", "LDS", 1, World.NOW.minusMillis(10_001)),
        "wait l NO_IDLE by D4",
        "wait b NO_IDLE by D4");
  }

  @Test
  void q2IdsThatAreNumbersCompareAsNumbersAndComeFirst() {
    expect(
        labs()
            .place("p", "4090", 8, 0)
            .job("job9", "BCG", 1, World.NOW)
            .job("job10", "BCG", 1, World.NOW)
            .job("10", "BCG", 1, World.NOW)
            .job("9", "BCG", 1, World.NOW)
            .job("123456789012345678901", "BCG", 1, World.NOW)
            .job("J", "BCG", 1, World.NOW)
            .job("-1", "BCG", 1, World.NOW),
        "wait 9 NO_IDLE by D4",
        "wait 10 NO_IDLE by D4",
        "wait 123456789012345678901 NO_IDLE by D4",
        "wait -1 NO_IDLE by D4",
        "wait J NO_IDLE by D4",
        "wait job10 NO_IDLE by D4",
        "wait job9 NO_IDLE by D4");
  }

  // ---- F1

  @Test
  void f1CapacityOfJustEnoughFits() {
    expect(
        labs().place("p", "4090", 3, 0).job("a", "BCG", 3).job("b", "BCG", 4),
        "wait a NO_IDLE by D4",
        "wait b NO_FIT by N6");
  }

  @Test
  void f1MinimumTierIsReachedByEqualSortOrder() {
    expect(
        labs().place("p", "4090", 2, 2).jobFrom(20, "a", "BCG", 1).jobFrom(21, "b", "BCG", 1),
        "start a on p/4090 x1 by D1",
        "wait b NO_FIT by N6");
  }

  @Test
  void f1OnlyTheNamedTierFits() {
    expect(
        labs()
            .place("p", "4090", 2, 2)
            .place("q", "5090", 2, 0)
            .jobOn("4090", "a", "BCG", 1)
            .jobOn("5090", "b", "BCG", 1)
            .jobOn("3080ti", "c", "BCG", 1),
        "start a on p/4090 x1 by D1",
        "wait b NO_IDLE by D4",
        "wait c NO_FIT by N6");
  }

  @Test
  void f1ATierWithoutAutoAssignFitsNobodyNotEvenByName() {
    expect(
        labs()
            .tier("a100", 40, 312, false)
            .place("p", "a100", 8, 8)
            .job("a", "BCG", 1)
            .jobOn("a100", "b", "BCG", 1),
        "wait a NO_FIT by N6",
        "wait b NO_FIT by N6");
  }

  // ---- V1, D1

  @Test
  void d1PrefersTheTierThenTheIdleThenTheName() {
    expect(
        labs()
            .place("n1", "4090", 8, 8)
            .place("n2", "5090", 4, 3)
            .place("n10", "5090", 4, 3)
            .place("n3", "5090", 8, 2)
            .job("a", "BCG", 1)
            .job("b", "BCG", 1)
            .job("c", "BCG", 4),
        "start a on n10/5090 x1 by D1",
        "start b on n2/5090 x1 by D1",
        "start c on n1/4090 x4 by D1");
  }

  @Test
  void d1TiersOfEqualRankAreToldApartByIdleThenNodeThenTheirNames() {
    expect(
        labs()
            .tier("4090d", 20, 70)
            .place("n1", "4090d", 4, 2)
            .place("n1", "4090", 4, 2)
            .place("n2", "4090d", 4, 3)
            .job("a", "BCG", 2)
            .job("b", "BCG", 2)
            .job("c", "BCG", 2),
        "start a on n2/4090d x2 by D1",
        "start b on n1/4090 x2 by D1",
        "start c on n1/4090d x2 by D1");
  }

  @Test
  void v1NothingStartsOrIsReservedOnANodeThatIsNotUp() {
    expect(
        labs()
            .place("p", "5090", 2, 2, DRAINING)
            .place("q", "5090", 2, 2, DOWN)
            .place("r", "4090", 2, 1)
            .job("a", "BCG", 2)
            .jobOn("5090", "b", "BCG", 1),
        "reserve a on r/4090 x1 by D3",
        "wait b NODE_DRAINING by X1");
  }

  @Test
  void d1IdleShrinksAsTheCycleGoesOn() {
    expect(
        labs()
            .place("p", "4090", 4, 3)
            .job("a", "BCG", 2)
            .job("b", "BCG", 2)
            .job("c", "BCG", 1)
            .job("d", "BCG", 1),
        "start a on p/4090 x2 by D1",
        "wait b NOT_FIRST behind a by R2",
        "start c on p/4090 x1 by D1",
        "wait d NO_IDLE by D4");
  }

  // ---- W1

  @Test
  void w1ReleasesOnTheSamePlacementToo() {
    expect(
        labs()
            .place("p", "4090", 4, 3)
            .job("a", "BCG", 2)
            .holds("a", "p", "4090", 1, 5)
            .job("b", "KDG", 1),
        "start a on p/4090 x2 by D1",
        "release a on p/4090 x1 by W1",
        "start b on p/4090 x1 by D1");
  }

  @Test
  void w1ALowerTierThatIsAvailableBeatsCompletingOnAHigherOne() {
    // N4.3: (a) comes before (b), wherever the available placement is.
    expect(
        labs()
            .place("p", "5090", 2, 2)
            .place("q", "3080ti", 2, 2)
            .job("a", "BCG", 2)
            .holds("a", "p", "5090", 1, 5),
        "start a on q/3080ti x2 by D1",
        "release a on p/5090 x1 by W1");
  }

  // ---- D2

  @Test
  void d2AbsorbsLessThanItLacks() {
    expect(
        labs()
            .place("p", "4090", 8, 3)
            .job("a", "BCG", 4)
            .holds("a", "p", "4090", 1, 5)
            .job("b", "KDG", 1),
        "absorb a on p/4090 x2 by D2",
        "wait b HELD_BY_RESERVATION behind a by D5");
  }

  @Test
  void d2TakesNoMoreThanItLacks() {
    expect(
        labs()
            .place("p", "4090", 8, 5)
            .job("a", "BCG", 4)
            .holds("a", "p", "4090", 2, 5)
            .job("b", "KDG", 1),
        "start a on p/4090 x4 by D2",
        "start b on p/4090 x1 by D1");
  }

  @Test
  void d2AHolderDoesNotReserveElsewhere() {
    expect(
        labs()
            .place("p", "4090", 4, 1)
            .place("q", "5090", 4, 3)
            .job("a", "BCG", 4)
            .holds("a", "p", "4090", 1, 5)
            .job("b", "KDG", 3),
        "wait a GATHERING by D2",
        "start b on q/5090 x3 by D1");
  }

  @Test
  void d2WhatItHoldsNeedNotFitAnyLonger() {
    // Its minimum tier was raised while it held: D2 asks for a reservation, not for fit.
    expect(
        labs()
            .place("p", "3080ti", 2, 2)
            .place("q", "4090", 2, 0)
            .jobFrom(20, "a", "BCG", 2)
            .holds("a", "p", "3080ti", 1, 5),
        "start a on p/3080ti x2 by D2");
  }

  // ---- D3, R1, R2

  @Test
  void d3PrefersTheTierThenTheMostIdleAmongThoseWithAny() {
    expect(
        labs()
            .place("n1", "5090", 4, 0)
            .place("n2", "4090", 4, 1)
            .place("n3", "4090", 4, 2)
            .place("n4", "3080ti", 4, 3)
            .job("a", "BCG", 4),
        "reserve a on n3/4090 x2 by D3");
  }

  @Test
  void d3ReservesOnlyWhereTheJobFits() {
    expect(
        labs().place("n1", "5090", 2, 2).place("n2", "4090", 4, 1).job("a", "BCG", 4),
        "reserve a on n2/4090 x1 by D3");
  }

  @Test
  void d3NothingIdleNothingReserved() {
    expect(
        labs().place("p", "4090", 2, 0).job("a", "BCG", 2).job("b", "BCG", 2),
        "wait a NO_IDLE by D4",
        "wait b NOT_FIRST behind a by R2");
  }

  @Test
  void r1AJobOfOneGpuReservesNothing() {
    expect(
        labs().place("p", "4090", 2, 0).job("a", "BCG", 1), //
        "wait a NO_IDLE by D4");
  }

  @Test
  void r2FirstIsFixedWhenTheCycleStarts() {
    expect(
        labs()
            .place("p", "4090", 2, 2)
            .place("q", "3080ti", 2, 1)
            .job("a", "BCG", 2)
            .job("b", "BCG", 2),
        "start a on p/4090 x2 by D1",
        "wait b NOT_FIRST behind a by R2");
  }

  // ---- R3, R5, C4

  @Test
  void r3WhatIsReleasedIsIdleInTheSameCycle() {
    expect(
        labs()
            .place("p", "4090", 2, 1)
            .job("a", "BCG", 1)
            .job("b", "KDG", 2)
            .holds("b", "p", "4090", 1, 10),
        "release b on p/4090 x1 by R3",
        "charge KDG 826.0 for b by C4",
        "start a on p/4090 x1 by D1",
        "wait b NOT_FIRST behind a by R2");
  }

  @Test
  void r3TheFirstJobKeepsWhatItHolds() {
    expect(
        labs().place("p", "4090", 2, 1).job("a", "BCG", 2).holds("a", "p", "4090", 1, 10),
        "wait a GATHERING by D2");
  }

  @Test
  void r3OneThatLostItMayStartInItsTurn() {
    expect(
        labs()
            .place("p", "4090", 2, 2)
            .place("q", "4090", 4, 0)
            .job("a", "BCG", 4)
            .job("b", "KDG", 2)
            .holds("b", "p", "4090", 1, 10)
            .place("r", "3080ti", 4, 4),
        "release b on p/4090 x1 by R3",
        "charge KDG 826.0 for b by C4",
        "start a on r/3080ti x4 by D1",
        "start b on p/4090 x2 by D1");
  }

  @Test
  void r3AndR5AllReleasesStandBeforeAllCharges() {
    expect(
        labs()
            .place("p", "4090", 4, 2)
            .place("q", "4090", 2, 1, DRAINING)
            .job("a", "BCG", 2)
            .holds("a", "q", "4090", 1, 10)
            .job("b", "KDG", 4)
            .holds("b", "p", "4090", 1, 20),
        "release a on q/4090 x1 by R5",
        "release b on p/4090 x1 by R3",
        "charge BCG 826.0 for a by C4",
        "charge KDG 1652.0 for b by C4",
        "start a on p/4090 x2 by D1",
        "wait b NOT_FIRST behind a by R2");
  }

  @Test
  void r5IsNamedWhereR3AppliesToo() {
    expect(
        labs()
            .place("p", "4090", 2, 1, DOWN)
            .job("a", "BCG", 1)
            .job("b", "KDG", 2)
            .holds("b", "p", "4090", 1, 10),
        "release b on p/4090 x1 by R5",
        "charge KDG 826.0 for b by C4",
        "wait a NO_FIT by N6",
        "wait b NO_FIT by N6");
  }

  @Test
  void r5WhenTheNodeIsNotInTheInventory() {
    expect(
        labs().job("a", "BCG", 2).holds("a", "p", "4090", 1, 10),
        "release a on p/4090 x1 by R5",
        "charge BCG 826.0 for a by C4",
        "wait a NO_FIT by N6");
  }

  @Test
  void r5WhenTheNodeIsThereWithoutTheTier() {
    expect(
        labs().place("p", "5090", 2, 0).job("a", "BCG", 2).holds("a", "p", "4090", 1, 10),
        "release a on p/4090 x1 by R5",
        "charge BCG 826.0 for a by C4",
        "wait a NO_IDLE by D4");
  }

  @Test
  void r5CapacityOfJustWhatIsReservedKeepsIt() {
    expect(
        labs().place("p", "4090", 2, 2).job("a", "BCG", 3).holds("a", "p", "4090", 2, 10),
        "wait a NO_FIT by N6");
    expect(
        labs().place("p", "4090", 1, 1).job("a", "BCG", 3).holds("a", "p", "4090", 2, 10),
        "release a on p/4090 x2 by R5",
        "charge BCG 1652.0 for a by C4",
        "wait a NO_FIT by N6");
  }

  @Test
  void r5WhenAJobFromOutsideTookTheGpus() {
    expect(
        labs().place("p", "4090", 4, 2).job("a", "BCG", 4).holds("a", "p", "4090", 2, 10),
        "wait a GATHERING by D2");
    expect(
        labs().place("p", "4090", 4, 1).job("a", "BCG", 4).holds("a", "p", "4090", 2, 10),
        "release a on p/4090 x2 by R5",
        "charge BCG 1652.0 for a by C4",
        "reserve a on p/4090 x1 by D3");
  }

  @Test
  void c1WhatWasAccruedBeforeIsChargedOnce() {
    expect(
        labs()
            .place("p", "4090", 8, 3, DOWN)
            .job("a", "BCG", 4)
            .holds("a", "p", "4090", 3, World.NOW.minusMillis(2500), 24_780),
        "release a on p/4090 x3 by R5",
        "charge BCG 25399.5 for a by C4",
        "wait a NO_FIT by N6");
  }

  @Test
  void c1AClockThatSteppedBackCostsNothing() {
    expect(
        labs()
            .place("p", "4090", 8, 3, DOWN)
            .job("a", "BCG", 4)
            .holds("a", "p", "4090", 3, World.NOW.plusSeconds(7), 100),
        "release a on p/4090 x3 by R5",
        "charge BCG 100.0 for a by C4",
        "wait a NO_FIT by N6");
  }

  @Test
  void c4AReservationOfThisInstantIsChargedNothingButIsTold() {
    expect(
        labs().place("p", "4090", 8, 3, DOWN).job("a", "BCG", 4).holds("a", "p", "4090", 3, 0),
        "release a on p/4090 x3 by R5",
        "charge BCG 0.0 for a by C4",
        "wait a NO_FIT by N6");
  }

  // ---- why a job waits

  @Test
  void n6ANodeThatIsDownFitsNobodyNowOneThatDrainsMay() {
    expect(
        labs().place("p", "4090", 2, 2, DOWN).job("a", "BCG", 2), //
        "wait a NO_FIT by N6");
    expect(
        labs().place("p", "4090", 2, 2, DRAINING).place("q", "4090", 1, 0, UP).job("a", "BCG", 2),
        "wait a NODE_DRAINING by X1");
  }

  @Test
  void d5IsSaidOnlyWhereIdleAndReservedTogetherWouldDo() {
    expect(
        labs()
            .place("p", "4090", 8, 3)
            .job("a", "BCG", 8)
            .job("b", "KDG", 3)
            .job("c", "KDG", 4)
            .job("d", "KDG", 1),
        "reserve a on p/4090 x3 by D3",
        "wait b HELD_BY_RESERVATION behind a by D5",
        "wait c NOT_FIRST behind a by R2",
        "wait d HELD_BY_RESERVATION behind a by D5");
  }

  @Test
  void d5IsNotSaidWhereTheReservedPlacementDoesNotFit() {
    expect(
        labs()
            .place("p", "4090", 2, 1)
            .place("q", "5090", 2, 0)
            .jobOn("4090", "a", "BCG", 2)
            .jobOn("5090", "b", "KDG", 1),
        "reserve a on p/4090 x1 by D3",
        "wait b NO_IDLE by D4");
  }

  @Test
  void anEmptyQueueDecidesNothing() {
    expect(labs().place("p", "4090", 2, 2));
  }

  @Test
  void aRunningJobIsNoneOfThisCyclesBusiness() {
    expect(
        labs()
            .place("p", "4090", 2, 1)
            .running("jobY", "BCG", "p", "4090", 1)
            .job("jobA", "BCG", 1),
        "start jobA on p/4090 x1 by D1");
  }
}
