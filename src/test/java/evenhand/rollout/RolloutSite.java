package evenhand.rollout;

import evenhand.cycle.AccountSetup;
import evenhand.cycle.Cycle;
import evenhand.cycle.CycleReport;
import evenhand.cycle.CycleSettings;
import evenhand.cycle.FrontDesk;
import evenhand.cycle.PastPolicies;
import evenhand.cycle.Router;
import evenhand.cycle.SomeJob;
import evenhand.cycle.StartEstimates;
import evenhand.facts.Tier;
import evenhand.policy.EditedRules;
import evenhand.policy.PolicyFault;
import evenhand.policy.RuleFiles;
import evenhand.service.JsonRecorder;
import evenhand.simulator.ManualClock;
import evenhand.simulator.SimulatedCluster;
import evenhand.store.Database;
import evenhand.store.PostgresRollout;
import evenhand.store.PostgresStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;

/** A rollout of real rules in a folder, on a real database, with cycles on a simulated cluster. */
final class RolloutSite implements AutoCloseable {
  static final Tier TIER = new Tier("h100", 30, 989, 8, true, null, "gpu:h100");

  final EditedRules rules;
  final DataSource source = Database.fresh();
  final PostgresStore store = new PostgresStore(source);
  final RolloutBook book = new PostgresRollout(source);
  final ManualClock clock = new ManualClock(Instant.parse("2026-05-04T08:00:00Z"));
  final SimulatedCluster cluster = new SimulatedCluster(clock);
  final String policy;
  private boolean scenarios = true;
  Rollout rollout;
  Cycle cycle;
  FrontDesk desk;

  RolloutSite(Path folder, String policy) throws IOException {
    this.rules = EditedRules.in(folder);
    this.policy = policy;
    cluster.node("n1", TIER, 8);
    cluster.node("n2", TIER, 8);
    cluster.runTimes(order -> Duration.ofMinutes(5 + order.token().job() % 7 * 10));
    store.setUp(
        List.of(TIER),
        List.of(
            new AccountSetup("red", null, 2),
            new AccountSetup("green", null, 1),
            new AccountSetup("boom", null, 1),
            new AccountSetup("loop", null, 1)),
        clock.instant());
  }

  /** Starts a process, the first one or one beside it. */
  Rollout begin(Rollout.Applies applies) throws PolicyFault {
    return begin(applies, policy);
  }

  Rollout begin(Rollout.Applies applies, String setting) throws PolicyFault {
    return Rollout.begin(book, folder(), setting, applies, clock);
  }

  RulesFolder folder() {
    return new RulesFolder(new RuleFiles.Folder(rules.folder()), scenarios);
  }

  /** Rules need not pass their scenarios, which takes most of the time. */
  RolloutSite withoutScenarios() {
    scenarios = false;
    return this;
  }

  /** Starts the process whose cycles are run. */
  RolloutSite start(Rollout.Applies applies) throws PolicyFault {
    rollout = begin(applies);
    cycle =
        new Cycle(
            store,
            cluster,
            Router.NONE,
            rollout.inForce(),
            new JsonRecorder(),
            clock,
            CycleSettings.DEFAULT);
    desk =
        new FrontDesk(
            store,
            rollout.inForce(),
            cycle::latest,
            new JsonRecorder(),
            new PastPolicies(),
            job -> Optional.empty(),
            StartEstimates.NONE,
            rollout::failed,
            CycleSettings.DEFAULT,
            clock);
    cycle(); // nobody may submit before the cluster was read
    return this;
  }

  /** One cycle as the service runs it, five seconds after the one before. */
  CycleReport cycle() {
    clock.advance(Duration.ofSeconds(5));
    rollout.follow();
    CycleReport report = cycle.run();
    rollout.decided(report);
    return report;
  }

  /** Looks at the rules until they are at rest and examined. */
  void look() {
    rollout.look();
    rollout.look();
  }

  String submit(SomeJob job) {
    return desk.submit(job.made(), null).id();
  }

  Planner planner() {
    return new Planner(rollout, store, new JsonRecorder(), clock);
  }

  /** Plans the rules in the folder, with this set, and waits for the end. */
  Planner.Standing plan(Planner planner, Map<String, String> set, String workload)
      throws InterruptedException {
    long id = planner.begin(new Planner.Asked(null, null, set, 7, workload, 1, "kim"));
    Planner.Standing standing = planner.plan(id).orElseThrow();
    while (standing.state() == Planner.State.RUNNING) {
      Thread.sleep(20);
      standing = planner.plan(id).orElseThrow();
    }
    return standing;
  }

  @Override
  public void close() {
    if (rollout != null) {
      rollout.close();
    }
    store.close();
  }
}
