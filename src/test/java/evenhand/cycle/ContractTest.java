package evenhand.cycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import evenhand.facts.NodeState;
import evenhand.facts.Running;
import evenhand.facts.Tier;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.simulator.ManualClock;
import evenhand.simulator.MemoryStore;
import evenhand.simulator.SimulatedCluster;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the shell does about the contract: grace times, starts that wait, drains, checkpoints. */
class ContractTest {
  private static final Instant T0 = Instant.parse("2026-04-10T09:00:00Z");
  private static final Tier H100 = new Tier("h100", 30, 989, 8, true, "gpu", "gpu:h100");
  private static final Policy BUDGET = budget();

  private final ManualClock clock = new ManualClock(T0);
  private final MemoryStore store = new MemoryStore();
  private final SimulatedCluster cluster = new SimulatedCluster(clock);
  private Cycle cycle;
  private FrontDesk desk;
  private Contract contract;

  private static Policy budget() {
    try {
      return Policies.load(Optional.empty(), "budget", Map.of());
    } catch (evenhand.policy.PolicyFault e) {
      throw new IllegalStateException(e);
    }
  }

  @BeforeEach
  void service() {
    store.setUp(
        List.of(H100), List.of(new AccountSetup("A", null, 1), new AccountSetup("B", null, 1)), T0);
    cluster.node("n1", H100, 8);
    cluster.node("n2", H100, 8);
    start();
    after(0);
  }

  /** The service, anew over the same store: what it knows beyond that is gone. */
  private void start() {
    cycle =
        new Cycle(
            store,
            cluster,
            Router.NONE,
            () -> BUDGET,
            Recorder.NOTHING,
            clock,
            CycleSettings.DEFAULT);
    desk = new FrontDesk(store, () -> BUDGET, cycle::latest, CycleSettings.DEFAULT, clock);
    contract = new Contract(store, () -> BUDGET, cycle::latest, clock);
  }

  private CycleReport after(int seconds) {
    clock.advance(Duration.ofSeconds(seconds));
    CycleReport report = cycle.run();
    assertThat(report.result()).as(report.because()).isEqualTo(CycleReport.Result.DECIDED);
    return report;
  }

  private String submit(String account, int gpus, int minimum, boolean resumable) {
    return desk.submit(
            SomeJob.PLAIN.of(account).on(gpus, null).minimum(minimum).resumable(resumable).made(),
            null)
        .id();
  }

  private Token token(String id, int attempt) {
    return new Token(store.installation(), Long.parseLong(id), attempt);
  }

  /** Both nodes are full of unallocated work of B, one job each, which ignores its signal. */
  private String[] stubborn(boolean resumable) {
    cluster.leaveTimes(order -> null);
    String[] u = {submit("B", 8, 0, resumable), submit("B", 8, 0, resumable)};
    after(5);
    after(5);
    assertThat(desk.job(u[0]).state()).isEqualTo(JobState.RUNNING);
    return u;
  }

  @Test
  void aPreemptedJobIsEndedWhenItsGraceTimeIsOverAlsoAfterARestart() {
    String[] u = stubborn(false);
    String taker = submit("A", 8, 3600, true);
    after(5); // T0 + 15: told, to be ended at T0 + 75
    String victim = desk.job(taker).waitsFor().get(0);
    assertThat(desk.job(victim).endsBy()).isEqualTo(T0.plusSeconds(75));
    assertThat(desk.job(victim).makesRoomFor()).isEqualTo(taker);
    assertThat(desk.job(victim).stateReason())
        .startsWith("makes room for job " + taker + " of account A")
        .contains("09:01:15Z");
    assertThat(desk.job(taker).state()).isEqualTo(JobState.DISPATCHING);
    Desk.Explanation why = desk.why(taker);
    assertThat(why.code()).isEqualTo("WAITING_FOR_VICTIMS");
    assertThat(why.message()).contains("job " + victim).contains("2026-04-10T09:11:15Z");
    assertThat(desk.queue(10, null).items().get(0))
        .satisfies(
            line -> {
              assertThat(line.position()).isZero();
              assertThat(line.id()).isEqualTo(taker);
              assertThat(line.code()).isEqualTo("WAITING_FOR_VICTIMS");
            });
    start();
    after(59);
    assertThat(desk.job(victim).state()).isEqualTo(JobState.RUNNING);
    after(1);
    after(5);
    assertThat(desk.job(victim).state()).isEqualTo(JobState.PREEMPTED);
    assertThat(desk.job(victim).stateReason())
        .isEqualTo("made room for job " + taker + " of account A");
    assertThat(desk.job(taker).state()).isEqualTo(JobState.RUNNING);
    assertThat(desk.job(taker).waitsFor()).isEmpty();
    assertThat(desk.job(taker).startedAt()).isEqualTo(T0.plusSeconds(75));
    // The other one was not needed.
    assertThat(desk.job(u[0].equals(victim) ? u[1] : u[0]).state()).isEqualTo(JobState.RUNNING);
  }

  @Test
  void whatAVictimLeavesGoesToNobodyElse() {
    cluster.leaveTimes(order -> order.token().job() == 1 ? Duration.ofSeconds(2) : null);
    String quick = submit("B", 4, 0, true);
    String slow = submit("B", 4, 0, true);
    submit("B", 8, 0, true);
    after(5);
    after(5);
    String taker = submit("A", 8, 3600, true);
    after(5);
    assertThat(desk.job(taker).waitsFor()).containsExactly(quick, slow);
    // The first has left; four GPUs are free, and wanted.
    String small = submit("A", 2, 3600, true);
    String back = submit("B", 4, 0, true);
    after(5);
    assertThat(desk.job(quick).attempt()).isEqualTo(2);
    assertThat(desk.job(taker).waitsFor()).containsExactly(slow);
    assertThat(desk.job(taker).stateReason()).contains("job " + slow + " has left");
    // The small one makes room for itself elsewhere, and what it leaves over there is free.
    assertThat(desk.job(small).on()).extracting(s -> s.node()).containsExactly("n2");
    assertThat(desk.job(back).on()).extracting(s -> s.node()).doesNotContain("n1");
    assertThat(desk.job(quick).on()).extracting(s -> s.node()).doesNotContain("n1");
    after(60);
    after(5);
    assertThat(desk.job(taker).state()).isEqualTo(JobState.RUNNING);
  }

  @Test
  void aStartIsUndoneWhenItsVictimNeverLeavesAndIsNotTriedThereForEver() {
    stubborn(true);
    Cluster deaf =
        new CycleTest.Answering(cluster) {
          @Override
          public Cancellation cancel(String clusterJob, Token token) {
            return token.attempt() == 1 && token.job() <= 2
                ? new Cancellation.Done() // taken, and nothing comes of it
                : super.cancel(clusterJob, token);
          }
        };
    cycle =
        new Cycle(
            store, deaf, Router.NONE, () -> BUDGET, Recorder.NOTHING, clock, CycleSettings.DEFAULT);
    desk = new FrontDesk(store, () -> BUDGET, cycle::latest, CycleSettings.DEFAULT, clock);
    String taker = submit("A", 8, 3600, true);
    after(5);
    String first = desk.job(taker).waitsFor().get(0);
    after(660);
    assertThat(desk.job(taker).state()).isEqualTo(JobState.DISPATCHING);
    CycleReport report = after(1);
    assertThat(report.notes()).anyMatch(n -> n.contains("had not left by 2026-04-10T09:11:15Z"));
    after(5);
    // It asks the other one now, and when that does not leave either, nobody a second time.
    assertThat(desk.job(taker).attempt()).isEqualTo(2);
    String second = desk.job(taker).waitsFor().get(0);
    assertThat(second).isNotEqualTo(first);
    after(661);
    after(5);
    assertThat(desk.job(taker).state()).isEqualTo(JobState.GLOBAL_QUEUE_WAIT);
    assertThat(desk.job(taker).stateReason()).contains("is undone: job " + second);
    for (int i = 0; i < 30; i++) {
      assertThat(after(60).decision().outcomes())
          .noneMatch(d -> d.outcome() instanceof evenhand.outcomes.Preempt);
    }
    assertThat(desk.job(taker).attempt()).isEqualTo(3);
    // When one has left at last, its GPUs are the taker's.
    cluster.end(token(first, 1), SeenJob.State.CANCELLED, null, null);
    after(5);
    after(5);
    assertThat(desk.job(taker).state()).isEqualTo(JobState.RUNNING);
  }

  @Test
  void aStartIsUndoneWhenItsNodeGoesDown() {
    stubborn(true);
    String taker = submit("A", 8, 3600, true);
    after(5);
    String node = desk.job(taker).on().get(0).node();
    cluster.state(node, NodeState.DOWN);
    CycleReport report = after(5);
    assertThat(report.notes()).anyMatch(n -> n.contains("its start on " + node + " is undone"));
    after(5);
    assertThat(desk.job(taker).on()).extracting(s -> s.node()).doesNotContain(node);
  }

  @Test
  void aCancelledVictimDoesNotUseUpItsGraceTime() {
    stubborn(true);
    String taker = submit("A", 8, 3600, true);
    after(5);
    String victim = desk.job(taker).waitsFor().get(0);
    desk.cancel(victim, "kim");
    after(1);
    after(5);
    assertThat(desk.job(victim).state()).isEqualTo(JobState.CANCELLED);
    assertThat(desk.job(taker).state()).isEqualTo(JobState.RUNNING);
  }

  @Test
  void theNextAttemptIsToldHowOftenItWasResumed() {
    cluster.leaveTimes(order -> Duration.ZERO);
    String u = submit("B", 8, 0, true);
    String v = submit("B", 8, 0, true);
    after(5);
    after(5);
    String taker = submit("A", 8, 3600, true);
    after(5);
    after(5);
    String victim = desk.job(u).attempt() == 2 ? u : v;
    cluster.end(token(taker, 1), SeenJob.State.COMPLETED, 0, null);
    after(5);
    assertThat(cluster.submitted().stream().filter(o -> o.token().equals(token(victim, 2))))
        .singleElement()
        .satisfies(order -> assertThat(order.resumed()).isEqualTo(1));
  }

  @Test
  void aDrainedNodeEmptiesWhenProtectionEndsAndIsReported() {
    String kept = submit("A", 8, 3600, true);
    String free = submit("B", 8, 0, false);
    after(5);
    after(5);
    String node = desk.job(kept).on().get(0).node();
    Contract.NodeView view = contract.drain(node, "fan 3 is loud", "ops");
    assertThat(view.state()).isEqualTo("draining");
    assertThat(view.waitsFor())
        .singleElement()
        .satisfies(
            w -> {
              assertThat(w.job()).isEqualTo(kept);
              assertThat(w.until()).isEqualTo(T0.plusSeconds(3605));
              assertThat(w.why()).isEqualTo("protected");
            });
    assertThat(after(5).notes()).isEmpty();
    assertThat(desk.placements())
        .filteredOn(p -> p.node().equals(node))
        .singleElement()
        .satisfies(
            p -> {
              assertThat(p.state()).isEqualTo(NodeState.DRAINING);
              assertThat(p.reason()).isEqualTo("fan 3 is loud (drained by ops)");
            });
    String later = submit("A", 2, 600, true);
    after(5);
    // Unallocated work elsewhere makes room for it; the draining node does not.
    assertThat(desk.job(later).on()).extracting(s -> s.node()).doesNotContain(node);
    assertThat(desk.job(free).state()).isIn(JobState.RUNNING, JobState.PREEMPTED);
    after(3580);
    assertThat(desk.job(kept).state()).isEqualTo(JobState.RUNNING);
    after(10); // protection is over: told, and gone at once
    CycleReport report = after(5);
    assertThat(desk.job(kept).attempt()).isEqualTo(2);
    assertThat(report.notes()).anyMatch(n -> n.startsWith("node " + node + " is drained"));
    assertThat(contract.nodes())
        .filteredOn(n -> n.node().equals(node))
        .singleElement()
        .satisfies(
            n -> {
              assertThat(n.state()).isEqualTo("drained");
              assertThat(n.emptySince()).isEqualTo(clock.instant());
              assertThat(n.by()).isEqualTo("ops");
              assertThat(n.waitsFor()).isEmpty();
            });
    assertThat(contract.resume(node, "ops").state()).isIn("up", "draining");
    after(5);
    assertThat(contract.nodes()).allMatch(n -> n.state().equals("up"));
    assertThat(contract.history(node, 5))
        .singleElement()
        .satisfies(d -> assertThat(d.endedBy()).isEqualTo("ops"));
    assertThat(store.drains(null, 5)).hasSize(1);
  }

  @Test
  void aNodeThatSlurmDrainsIsNotedAndOnlySlurmEndsThat() {
    cluster.state("n1", NodeState.DRAINING);
    after(5);
    assertThat(contract.nodes().get(0).state()).isEqualTo("drained");
    assertThat(contract.nodes().get(0).by()).isEqualTo("Slurm");
    assertThatThrownBy(() -> contract.resume("n1", "ops"))
        .isInstanceOfSatisfying(
            Desk.Refused.class, e -> assertThat(e.code()).isEqualTo("DRAINED_BY_SLURM"));
    assertThatThrownBy(() -> contract.drain("n7", "why", "ops")).hasMessageContaining("n1, n2");
    assertThatThrownBy(() -> contract.drain("n1", " ", "ops")).hasMessageContaining("reason");
    cluster.state("n1", NodeState.UP);
    after(5);
    assertThat(contract.nodes().get(0).state()).isEqualTo("up");
    assertThat(contract.history("n1", 5).get(0).endedBy()).isEqualTo("Slurm");
  }

  @Test
  void aNodeThatIsClosedForOthersKeepsWhatItRuns() {
    String u = submit("B", 8, 0, true);
    after(5);
    after(5);
    String node = desk.job(u).on().get(0).node();
    Cluster reserved =
        new CycleTest.Answering(cluster) {
          @Override
          public Reading read() throws ReadingFailed {
            Reading r = super.read();
            return new Reading(
                r.at(),
                r.placements().stream()
                    .map(
                        s ->
                            s.node().equals(node)
                                ? new Reading.Seen(
                                    s.node(),
                                    s.model(),
                                    s.capacity(),
                                    s.used(),
                                    NodeState.DRAINING,
                                    "MIXED+MAINTENANCE+RESERVED",
                                    "maintenance on Sunday",
                                    s.partitions(),
                                    true)
                                : s)
                    .toList(),
                r.jobs());
          }
        };
    cycle =
        new Cycle(
            store,
            reserved,
            Router.NONE,
            () -> BUDGET,
            Recorder.NOTHING,
            clock,
            CycleSettings.DEFAULT);
    contract = new Contract(store, () -> BUDGET, cycle::latest, clock);
    desk = new FrontDesk(store, () -> BUDGET, cycle::latest, CycleSettings.DEFAULT, clock);
    assertThat(after(5).decision().outcomes()).isEmpty();
    after(600);
    assertThat(desk.job(u).state()).isEqualTo(JobState.RUNNING);
    assertThat(contract.nodes())
        .filteredOn(n -> n.node().equals(node))
        .singleElement()
        .satisfies(n -> assertThat(n.state()).isEqualTo("closed"));
    assertThat(store.drains(null, 5)).isEmpty();
    // Asked of us it is a drain all the same.
    contract.drain(node, "now", "ops");
    after(5);
    after(5);
    assertThat(desk.job(u).attempt()).isEqualTo(2);
  }

  @Test
  void aCheckpointMakesLostWorkLessAndNeverMore() {
    String a = submit("A", 8, 3600, true);
    assertThatThrownBy(() -> contract.checkpoint(a, null))
        .isInstanceOfSatisfying(
            Desk.Refused.class, e -> assertThat(e.code()).isEqualTo("NOT_RUNNING"));
    after(5);
    after(5);
    clock.advance(Duration.ofSeconds(1790));
    Instant saved = contract.checkpoint(a, null);
    assertThat(saved).isEqualTo(T0.plusSeconds(1800));
    assertThat(contract.checkpoint(a, T0.plusSeconds(900))).isEqualTo(saved);
    assertThat(contract.checkpoint(a, T0.plusSeconds(1830)))
        .as("a clock a little ahead")
        .isEqualTo(saved);
    assertThatThrownBy(() -> contract.checkpoint(a, T0)).hasMessageContaining("its run began at");
    assertThatThrownBy(() -> contract.checkpoint(a, T0.plusSeconds(1861)))
        .hasMessageContaining("cannot be");
    Running running = after(60).snapshot().running().get(0);
    assertThat(running.checkpointAt()).isEqualTo(saved);
    assertThat(running.lostWork(clock.instant())).isEqualTo(8 * 60.0);
    // A second after the whole minimum, little is lost, whatever the checkpoint says.
    assertThat(running.lostWork(T0.plusSeconds(3606))).isEqualTo(8.0);
    assertThat(desk.job(a).checkpointAt()).isEqualTo(saved);
  }
}
