package evenhand.slurm;

import evenhand.cycle.AccountSetup;
import evenhand.cycle.Cluster;
import evenhand.cycle.Cycle;
import evenhand.cycle.CycleReport;
import evenhand.cycle.CycleSettings;
import evenhand.cycle.JobState;
import evenhand.cycle.Recorder;
import evenhand.cycle.Router;
import evenhand.cycle.SomeJob;
import evenhand.cycle.Store;
import evenhand.policy.Policy;
import evenhand.sandbox.SlurmSandbox;
import evenhand.simulator.MemoryStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;

/** A real policy's cycles on real daemons; only the store is memory. For tests to build on. */
abstract class CyclesOnSlurm {
  static final String SLEEP = "#!/bin/sh\nsleep 300\n";
  private static final Duration SOON = Duration.ofSeconds(40);
  private static int stores;

  final SlurmSandbox slurm;
  final SlurmCluster real;
  final Policy policy;
  // Every test counts its jobs from 1, and Slurm remembers those of the tests before.
  final MemoryStore store = new MemoryStore("t" + ++stores);
  final List<String> notes = new ArrayList<>();
  Path work;
  Cycle cycle;
  CycleReport last;

  CyclesOnSlurm(SlurmSandbox slurm, Policy policy) {
    this.slurm = slurm;
    this.policy = policy;
    this.real =
        new SlurmCluster(Orders.settings(slurm.clientConfWithTimeout(2), null), Clock.systemUTC());
  }

  @BeforeEach
  final void service() throws IOException {
    work = Files.createTempDirectory(slurm.folder().resolve("work"), "job");
    store.setUp(
        List.of(Orders.T4090, Orders.T5090, Orders.T3080),
        List.of(new AccountSetup("bcg", null, 1), new AccountSetup("kdg", null, 1)),
        Instant.now());
    cycle = cycle(real);
  }

  final Cycle cycle(Cluster cluster) {
    return cycle(cluster, CycleSettings.DEFAULT.pendingLimit());
  }

  final Cycle cycle(Cluster cluster, Duration pendingLimit) {
    CycleSettings quick =
        Orders.quick(CycleSettings.DEFAULT.goneAfter(), pendingLimit, Duration.ofSeconds(5));
    return new Cycle(
        store, cluster, Router.NONE, () -> policy, Recorder.NOTHING, Clock.systemUTC(), quick);
  }

  final CycleReport run() {
    last = cycle.run();
    notes.addAll(last.notes());
    return last;
  }

  /** Runs cycles until this is so. */
  final void cycles(Supplier<String> what, BooleanSupplier until) throws InterruptedException {
    long end = System.nanoTime() + SOON.toNanos();
    while (System.nanoTime() < end) {
      run();
      if (until.getAsBoolean()) {
        return;
      }
      Thread.sleep(250);
    }
    throw new AssertionError(
        "waited in vain for " + what.get() + "\n" + notes + "\n" + slurm.logTails());
  }

  final long add(SomeJob job) {
    return store.add(job.made(), 0, null, null, Instant.now()).record().job().id();
  }

  final Store.JobRecord job(long id) {
    return store.job(id).orElseThrow();
  }

  final void awaitState(long id, JobState state) throws InterruptedException {
    cycles(
        () -> "job " + id + " to be " + state + ", it is " + job(id),
        () -> job(id).job().state() == state);
  }
}
