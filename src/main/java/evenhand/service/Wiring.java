package evenhand.service;

import evenhand.api.ActivePolicy;
import evenhand.api.Api;
import evenhand.api.CycleNow;
import evenhand.check.Check;
import evenhand.cycle.AccountSetup;
import evenhand.cycle.Cluster;
import evenhand.cycle.Contract;
import evenhand.cycle.Cycle;
import evenhand.cycle.CycleSettings;
import evenhand.cycle.Desk;
import evenhand.cycle.FrontDesk;
import evenhand.cycle.JobOutputs;
import evenhand.cycle.Ledger;
import evenhand.cycle.PolicyInForce;
import evenhand.cycle.Receipts;
import evenhand.cycle.Recorder;
import evenhand.cycle.Router;
import evenhand.cycle.Steps;
import evenhand.cycle.Store;
import evenhand.cycle.accounts.AccountDesk;
import evenhand.cycle.events.EventFeed;
import evenhand.facts.Tier;
import evenhand.policy.Policies;
import evenhand.policy.PolicyFault;
import evenhand.policy.RuleFiles;
import evenhand.router.HttpRouter;
import evenhand.simulator.SimulatedCluster;
import evenhand.slurm.Objections;
import evenhand.slurm.Outputs;
import evenhand.store.PostgresStore;
import evenhand.webhook.Webhooks;
import io.micrometer.core.instrument.MeterRegistry;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

/** Which part stands behind which port. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableConfigurationProperties(Settings.class)
@Import(Api.class)
@ComponentScan("evenhand.slurm")
class Wiring {
  private static final Logger LOG = LoggerFactory.getLogger("evenhand");

  /** The one clock of the service. */
  @Bean
  @ConditionalOnMissingBean
  Clock clock() {
    return Clock.tick(Clock.systemUTC(), Duration.of(1, ChronoUnit.MICROS));
  }

  @Bean
  Mode mode(Environment environment) {
    Mode mode = Mode.of(environment);
    switch (mode) {
      case DEMO ->
          LOG.info(
              "DEMONSTRATION: a cluster in memory with example jobs; nothing touches"
                  + " a real cluster. Set evenhand.cluster=slurm and evenhand.tiers for yours.");
      case SIMULATED -> LOG.info("The cluster is simulated; nothing touches a real one");
      case SLURM -> LOG.info("The cluster is Slurm's");
    }
    return mode;
  }

  @Bean
  CycleSettings cycleSettings(Settings settings) {
    return settings.forCycle();
  }

  @Bean
  PolicyInForce policy(Settings settings) throws PolicyFault {
    Optional<Path> folder = settings.rulesFolder();
    LOG.info(
        "The rules of policy {} are compiled{}, which takes some seconds",
        settings.policy(),
        settings.checkScenarios() ? " and checked by their scenarios" : "");
    PolicyInForce policy =
        new PolicyInForce(
            settings.checkScenarios()
                ? new Check(RuleFiles.of(folder)).passed(settings.policy(), Optional.empty())
                : Policies.load(folder, settings.policy(), Map.of()));
    LOG.info(
        "Policy {} from {}, {}", policy.get().name(), policy.get().where(), policy.get().hash());
    return policy;
  }

  @Bean(destroyMethod = "close")
  @DependsOnDatabaseInitialization
  PostgresStore store(DataSource source, Settings settings, Mode mode, Clock clock) {
    boolean budgets = BudgetDemo.shows(settings.policy());
    List<Tier> tiers =
        mode != Mode.DEMO ? settings.tierFacts() : budgets ? BudgetDemo.TIERS : Demo.TIERS;
    List<AccountSetup> accounts =
        mode != Mode.DEMO
            ? settings.accountSetups()
            : budgets ? BudgetDemo.ACCOUNTS : Demo.ACCOUNTS;
    PostgresStore store = new PostgresStore(source, settings.cycle().lease());
    store.setUp(tiers, accounts, clock.instant());
    return store;
  }

  @Bean
  Recorder recorder() {
    return new JsonRecorder();
  }

  @Bean
  Ledger ledger(Store store, CycleSettings settings, Clock clock) {
    return new Ledger(store, settings, clock);
  }

  @Bean
  Receipts receipts(Store store, Recorder recorder) {
    return new Receipts(store, recorder);
  }

  @Bean
  Router router(Settings settings, MeterRegistry meters) {
    Settings.RouterSetting router = settings.router();
    if (router.url() == null) {
      return Router.NONE;
    }
    LOG.info("The LLM router at {} is told which GPUs to give up", router.url());
    return new HttpRouter(
        router.url(), router.timeout(), router.maxAge(), router.capacity(), meters);
  }

  /** What the cycle stands on: the cluster in memory, or whatever bean the Slurm adapter gives. */
  @Bean
  Cycle cycle(
      Store store,
      Mode mode,
      Settings settings,
      ObjectProvider<Cluster> given,
      Router router,
      PolicyInForce policy,
      Recorder recorder,
      Clock clock,
      CycleSettings cycleSettings,
      ObjectProvider<Steps> steps) {
    Cluster cluster =
        switch (mode) {
          case DEMO ->
              BudgetDemo.shows(settings.policy()) ? BudgetDemo.cluster(clock) : Demo.cluster(clock);
          case SIMULATED -> simulated(settings, clock);
          case SLURM -> given.getIfAvailable();
        };
    Settings.need(
        cluster != null, "evenhand.cluster=slurm, but no Slurm adapter is part of this build");
    return new Cycle(
        store,
        cluster,
        router,
        policy,
        recorder,
        clock,
        cycleSettings,
        steps.getIfAvailable(() -> Steps.UNWATCHED));
  }

  private static Cluster simulated(Settings settings, Clock clock) {
    SimulatedCluster cluster = new SimulatedCluster(clock);
    for (Settings.NodeSetting node : settings.nodes()) {
      Tier tier =
          settings.tierFacts().stream()
              .filter(t -> t.name().equals(node.tier()))
              .findFirst()
              .orElseThrow();
      cluster.node(node.name(), tier, node.gpus());
    }
    cluster.runTimes(Demo::runTime);
    return cluster;
  }

  @Bean
  Desk desk(
      Store store,
      PolicyInForce policy,
      Cycle cycle,
      Recorder recorder,
      Mode mode,
      Objections objections,
      CycleSettings settings,
      Clock clock) {
    return new FrontDesk(
        store,
        policy,
        cycle::latest,
        recorder::readDecision,
        mode == Mode.SLURM ? objections::to : objections::toScript,
        settings,
        clock);
  }

  @Bean
  JobOutputs jobOutputs(Store store, Mode mode, Outputs outputs) {
    return new JobOutputs(store, mode == Mode.SLURM ? outputs::of : order -> Optional.empty());
  }

  @Bean
  AccountDesk accountDesk(Store store, PolicyInForce policy, CycleSettings settings, Clock clock) {
    return new AccountDesk(store, policy, settings, clock);
  }

  @Bean
  Contract contract(Store store, PolicyInForce policy, Cycle cycle, Clock clock) {
    return new Contract(store, policy, cycle::latest, clock);
  }

  @Bean
  EventFeed eventFeed(PostgresStore store) {
    return new EventFeed(store.events());
  }

  @Bean
  CycleTimer cycleTimer(
      Cycle cycle,
      Store store,
      Settings settings,
      Clock clock,
      MeterRegistry meters,
      EventFeed feed) {
    return new CycleTimer(cycle, store, settings, clock, meters, feed::cycled);
  }

  @Bean(destroyMethod = "close")
  Webhooks webhooks(
      Settings settings, EventFeed feed, CycleTimer timer, Clock clock, MeterRegistry meters) {
    return new Webhooks(settings.hooks(), feed, timer::decides, clock, meters);
  }

  @Bean
  CycleHealth cycleHealthIndicator(CycleTimer timer, Store store, Settings settings, Clock clock) {
    return new CycleHealth(timer, store, settings, clock);
  }

  @Bean
  ActivePolicy activePolicy(PolicyInForce policy) {
    return ActivePolicy.of(policy);
  }

  @Bean
  CycleNow cycleNow(CycleTimer timer) {
    return CycleNow.of(timer::run);
  }

  @Bean
  Demo demo(Mode mode, Settings settings, Desk desk) {
    return new Demo(mode == Mode.DEMO && !BudgetDemo.shows(settings.policy()), desk);
  }

  @Bean
  BudgetDemo budgetDemo(Mode mode, Settings settings, Desk desk, Contract contract) {
    return new BudgetDemo(mode == Mode.DEMO && BudgetDemo.shows(settings.policy()), desk, contract);
  }
}
