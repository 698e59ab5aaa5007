package evenhand.slurm;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.cycle.Contract;
import evenhand.cycle.JobState;
import evenhand.cycle.SomeJob;
import evenhand.outcomes.Claimed;
import evenhand.outcomes.Preempt;
import evenhand.policy.Policies;
import evenhand.sandbox.RealSlurm;
import evenhand.sandbox.SlurmSandbox;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The scheduling contract on real daemons: signals, grace times, drains, gangs and claims. */
@RealSlurm(slurmdTimeoutSeconds = 5, messageTimeoutSeconds = 3)
@Timeout(120)
class SlurmContractTest extends CyclesOnSlurm {
  /** Saves its work when it is told to leave, and goes on from there the next time. */
  private static final String SAVES =
      """
      #!/bin/bash
      trap 'echo saved by $EVENHAND_ATTEMPT | tee -a saved; exit 1' TERM
      echo attempt $EVENHAND_ATTEMPT resumed $EVENHAND_RESUMED
      for i in $(seq 600); do sleep 0.5; done
      """;

  /** Hears nothing, and what it has started neither. */
  private static final String DEAF = "#!/bin/bash\ntrap '' TERM\nsleep 300\n";

  private Contract contract;

  SlurmContractTest(SlurmSandbox slurm) throws Exception {
    super(
        slurm,
        Policies.load(
            Optional.empty(), "budget", Map.of("grace", "4s", "gang_reservation", "claim")));
  }

  @BeforeEach
  void contract() {
    // kdg has had far more than its half of the last days.
    store.usedBefore("kdg", 1_000_000, Instant.now());
    cycle = cycle(real, Duration.ofSeconds(60));
    contract = new Contract(store, () -> policy, cycle::latest, Clock.systemUTC());
  }

  @AfterEach
  void emptyTheCluster() {
    slurm.run("scancel", "--user=" + System.getProperty("user.name"));
    slurm.run("scancel", "--signal=KILL", "--full", "--user=" + System.getProperty("user.name"));
    slurm.awaitIdle(Duration.ofSeconds(60));
  }

  private long add(String account, int nodes, int gpus, String tier, int minimum, String script) {
    return add(
        SomeJob.PLAIN
            .of(account)
            .nodes(nodes)
            .on(gpus, tier)
            .minimum(minimum)
            .resumable(true)
            .runs(script, work.toString()));
  }

  private String node(long id) {
    return job(id).attempt().on().get(0).node();
  }

  private String foreign(String node, String gpus) {
    String id = slurm.submit("sleep 300", "--gres=gpu:" + gpus, "--nodelist=" + node);
    slurm.awaitJob(id, "RUNNING", Duration.ofSeconds(20));
    return id;
  }

  @Test
  void unallocatedWorkYieldsAndGoesOnElsewhereWithItsOutputIntact() throws Exception {
    foreign("n4", "4090:4");
    String elsewhere = foreign("n2", "4090:2");
    long free = add("kdg", 1, 2, "4090", 0, SAVES);
    awaitState(free, JobState.RUNNING);
    assertThat(node(free)).isEqualTo("n1");
    Path first = work.resolve("evenhand-" + free + "-1.out");
    cycles(() -> "its first line", () -> Files.exists(first) && first.toFile().length() > 0);
    long paid = add("bcg", 1, 2, "4090", 60, SLEEP);
    run();
    assertThat(job(paid).attempt().waitsFor()).hasSize(1);
    assertThat(job(free).job().stateReason()).startsWith("makes room for job " + paid);
    awaitState(paid, JobState.RUNNING);
    assertThat(node(paid)).isEqualTo("n1");
    assertThat(job(free).job().state()).isEqualTo(JobState.GLOBAL_QUEUE_WAIT);
    assertThat(job(free).job().stateReason())
        .isEqualTo("made room for job " + paid + " of account bcg");
    assertThat(work.resolve("saved")).hasContent("saved by 1");

    slurm.run("scancel", elsewhere);
    awaitState(free, JobState.RUNNING);
    assertThat(node(free)).isEqualTo("n2");
    Path second = work.resolve("evenhand-" + free + "-2.out");
    cycles(() -> "its second output", () -> Files.exists(second) && second.toFile().length() > 0);
    // Slurm adds a line of its own.
    assertThat(first).content().startsWith("attempt 1 resumed 0\n").contains("saved by 1");
    assertThat(second).hasContent("attempt 2 resumed 1");
    assertThat(slurm.run("squeue", "-h", "-j", job(free).attempt().clusterJob(), "-o", "%k"))
        .endsWith(" resumed 1x");
  }

  @Test
  void whoIsOverServedMakesRoomWhenItsGraceTimeIsOverAndWhoIsProtectedStays() throws Exception {
    long shielded = add("kdg", 1, 1, "3080ti", 600, SLEEP);
    long open = add("kdg", 1, 1, "3080ti", 1, DEAF);
    awaitState(shielded, JobState.RUNNING);
    awaitState(open, JobState.RUNNING);
    long paid = add("bcg", 1, 1, "3080ti", 60, SLEEP);
    cycles(() -> "room to be made", () -> job(open).attempt().preemptFor() != null);
    Instant told = job(open).attempt().endBy().minusSeconds(4);
    awaitState(paid, JobState.RUNNING);
    // It heard nothing, and was ended when its four seconds were over; Slurm counts whole seconds.
    Instant ended = store.ledger(null, open, 10, Long.MAX_VALUE).get(0).to();
    assertThat(ended).isAfterOrEqualTo(told.plusSeconds(3));
    assertThat(job(open).job().state()).isEqualTo(JobState.GLOBAL_QUEUE_WAIT);
    assertThat(job(shielded).job().state()).isEqualTo(JobState.RUNNING);
    assertThat(job(shielded).attempt().leaving()).isFalse();
  }

  @Test
  void aDrainEmptiesANodeExactlyWhenProtectionEnds() throws Exception {
    long kept = add("bcg", 1, 2, "3080ti", 6, SAVES);
    awaitState(kept, JobState.RUNNING);
    Instant until = job(kept).attempt().startedAt().plusSeconds(6);
    Contract.NodeView view = contract.drain("n3", "a fan is loud", "ops");
    assertThat(view.waitsFor().get(0).until()).isEqualTo(until);
    cycles(
        () -> "it to be told",
        () -> {
          boolean told = job(kept).attempt().preemptFor() != null;
          assertThat(told && last.decision().now().isBefore(until)).isFalse();
          return told;
        });
    cycles(
        () -> "n3 to be drained",
        () ->
            contract.nodes().stream()
                .anyMatch(n -> n.node().equals("n3") && n.state().equals("drained")));
    assertThat(notes).anyMatch(n -> n.startsWith("node n3 is drained"));
    assertThat(job(kept).job().state()).isEqualTo(JobState.GLOBAL_QUEUE_WAIT);
    // Slurm's own drain counts besides, and a reservation of others is none.
    slurm.setNode("n3", "drain", "disk");
    cycles(() -> "Slurm's drain", () -> store.drains("n3", 5).size() == 2);
    contract.resume("n3", "ops");
    run();
    assertThat(contract.nodes())
        .filteredOn(n -> n.node().equals("n3"))
        .singleElement()
        .satisfies(n -> assertThat(n.by()).isEqualTo("Slurm"));
    slurm.setNode("n3", "resume", "");
    awaitState(kept, JobState.RUNNING);
    assertThat(job(kept).attempt().attempt()).isEqualTo(2);
  }

  @Test
  void aGangGathersWhileUnallocatedWorkRunsOnAndThenStartsTogether() throws Exception {
    foreign("n4", "4090:4");
    long protectedWork = add("kdg", 1, 2, "4090", 12, SLEEP);
    long free = add("kdg", 1, 2, "4090", 0, SLEEP);
    awaitState(protectedWork, JobState.RUNNING);
    awaitState(free, JobState.RUNNING);
    long gang = add("bcg", 2, 2, "4090", 60, SLEEP);
    run();
    assertThat(last.decision().outcomes())
        .anySatisfy(
            d -> {
              assertThat(d.outcome()).isInstanceOf(Claimed.class);
              assertThat(((Claimed) d.outcome()).on()).hasSize(2);
            });
    Instant ready = store.load(null).claim().readyAt();
    assertThat(ready).isEqualTo(job(protectedWork).attempt().startedAt().plusSeconds(12));
    cycles(
        () -> "the gang to be given its GPUs",
        () -> {
          boolean given = job(gang).job().state() == JobState.DISPATCHING;
          if (!given) {
            assertThat(last.decision().outcomes()).noneMatch(d -> d.outcome() instanceof Preempt);
            assertThat(job(free).job().state()).isEqualTo(JobState.RUNNING);
          }
          return given;
        });
    assertThat(last.decision().now()).isAfterOrEqualTo(ready);
    assertThat(store.load(null).claim()).isNull();
    awaitState(gang, JobState.RUNNING);
    assertThat(slurm.run("squeue", "-h", "-j", job(gang).attempt().clusterJob(), "-o", "%N"))
        .isEqualTo("n[1-2]");
    assertThat(job(free).job().state()).isEqualTo(JobState.GLOBAL_QUEUE_WAIT);
    assertThat(job(protectedWork).job().state()).isEqualTo(JobState.GLOBAL_QUEUE_WAIT);
  }
}
