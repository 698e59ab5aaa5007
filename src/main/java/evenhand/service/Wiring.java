package evenhand.service;

import evenhand.access.Allowance;
import evenhand.access.Tokens;
import evenhand.api.Access;
import evenhand.api.ActivePolicy;
import evenhand.api.Api;
import evenhand.api.CycleNow;
import evenhand.api.RolloutApi;
import evenhand.api.RuleBook;
import evenhand.cycle.AccountSetup;
import evenhand.cycle.Cluster;
import evenhand.cycle.Contract;
import evenhand.cycle.Cycle;
import evenhand.cycle.CycleReport;
import evenhand.cycle.CycleSettings;
import evenhand.cycle.Desk;
import evenhand.cycle.FrontDesk;
import evenhand.cycle.JobOutputs;
import evenhand.cycle.Ledger;
import evenhand.cycle.PastPolicies;
import evenhand.cycle.PolicyInForce;
import evenhand.cycle.Receipts;
import evenhand.cycle.Recorder;
import evenhand.cycle.Router;
import evenhand.cycle.RuleHistory;
import evenhand.cycle.Steps;
import evenhand.cycle.Store;
import evenhand.cycle.accounts.AccountDesk;
import evenhand.cycle.events.EventFeed;
import evenhand.facts.Tier;
import evenhand.policy.PolicyFault;
import evenhand.policy.RuleFiles;
import evenhand.rollout.Planner;
import evenhand.rollout.Rollout;
import evenhand.rollout.RulesFolder;
import evenhand.rollout.Shadow;
import evenhand.router.HttpRouter;
import evenhand.simulator.SimulatedCluster;
import evenhand.slurm.Objections;
import evenhand.slurm.Outputs;
import evenhand.store.PostgresAccess;
import evenhand.store.PostgresRollout;
import evenhand.store.PostgresStore;
import evenhand.webhook.Webhooks;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.security.oauth2.jwt.JwtDecoder;

/** Which part stands behind which port. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableConfigurationProperties(Settings.class)
@Import({Api.class, RolloutApi.class})
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
  @DependsOnDatabaseInitialization
  Rollout rollout(DataSource source, Settings settings, Clock clock) throws PolicyFault {
    LOG.info(
        "The rules of policy {} are compiled{}, which takes some seconds",
        settings.policy(),
        settings.checkScenarios() ? " and checked by their scenarios" : "");
    Rollout rollout =
        Rollout.begin(
            new PostgresRollout(source),
            new RulesFolder(RuleFiles.of(settings.rulesFolder()), settings.checkScenarios()),
            settings.policy(),
            settings.rulesApply(),
            clock);
    rollout.start(settings.rulesLook());
    return rollout;
  }

  @Bean
  PolicyInForce policy(Rollout rollout) {
    return rollout.inForce();
  }

  @Bean
  Planner planner(Rollout rollout, Store store, Recorder recorder, Clock clock) {
    return new Planner(rollout, store, recorder, clock);
  }

  @Bean
  Shadow shadow(
      Rollout rollout, Recorder recorder, Settings settings, MeterRegistry meters, Clock clock)
      throws PolicyFault {
    Shadow shadow =
        new Shadow(
            rollout,
            recorder,
            clock,
            (was, becomes) ->
                meters
                    .counter("evenhand.shadow.differences", "clause", was, "instead", becomes)
                    .increment());
    if (settings.shadow() != null && !settings.shadow().isBlank()) {
      shadow.set(settings.shadow().strip(), "settings");
    }
    return shadow;
  }

  @Bean
  RulesBesideCycle rulesBesideCycle(Rollout rollout, Shadow shadow, MeterRegistry meters) {
    return new RulesBesideCycle(rollout, shadow, meters);
  }

  @Bean
  RulesHealth rulesHealthIndicator(Rollout rollout) {
    return new RulesHealth(rollout);
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
  @DependsOnDatabaseInitialization
  PostgresAccess accessBook(DataSource source) {
    return new PostgresAccess(source);
  }

  @Bean
  Access access(
      Environment environment,
      Settings settings,
      PostgresAccess book,
      Store store,
      Mode mode,
      Clock clock,
      ObjectProvider<JwtDecoder> decoder) {
    Tokens tokens = new Tokens(book, clock);
    boolean on = Security.isOn(environment);
    if (!on) {
      LOG.warn(
          "SECURITY IS OFF{}: whoever reaches this host's loopback may do everything, and names are"
              + " taken at their word",
          mode == Mode.DEMO ? ", as this is the demonstration" : "");
    } else if (decoder.getIfAvailable() == null && !tokens.hasAdmin()) {
      LOG.warn(
          "Security is on and there is no admin's token yet: make one on this host with \"evenhand"
              + " token create --admin NAME\" and the settings that the service has");
    }
    Binder binder = Binder.get(environment);
    return new Access(
        on,
        tokens,
        book,
        Optional.ofNullable(decoder.getIfAvailable()).map(d -> new SiteLogin(d, settings.oidc())),
        user -> Optional.ofNullable(AccountDesk.accountOf(store.accounts(), user)),
        new Allowance(
            binder.bind("evenhand.api.requests-per-minute", Integer.class).orElse(0), clock),
        binder.bind("evenhand.api.hosts", Bindable.listOf(String.class)).orElse(List.of()),
        clock);
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
  PastPolicies pastPolicies() {
    return new PastPolicies();
  }

  @Bean
  Receipts receipts(Store store, Recorder recorder, PastPolicies past) {
    return new Receipts(store, recorder, past);
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
      MeterRegistry meters,
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
        new CountedCluster(cluster, meters),
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
  FrontDesk desk(
      PostgresStore store,
      Rollout rollout,
      PolicyInForce policy,
      Cycle cycle,
      Recorder recorder,
      PastPolicies past,
      Mode mode,
      Objections objections,
      PostgresAccess book,
      CycleSettings settings,
      Environment environment,
      Clock clock) {
    QueueLimit limit =
        new QueueLimit(
            Binder.get(environment).bind("evenhand.api.jobs-per-user", Integer.class).orElse(0),
            book::waiting);
    return new FrontDesk(
        store,
        policy,
        cycle::latest,
        recorder,
        past,
        job -> {
          limit.check(job);
          return mode == Mode.SLURM ? objections.to(job) : objections.toScript(job);
        },
        store.startEstimates(),
        rollout::failed,
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
  CycleMeters cycleMeters(MeterRegistry meters, Store store, AccountDesk accounts, Clock clock) {
    return new CycleMeters(meters, store, accounts, clock);
  }

  @Bean
  EventFeed eventFeed(PostgresStore store) {
    return new EventFeed(store.events());
  }

  @Bean
  BesideCycle tellsOfCycles(EventFeed feed) {
    return new BesideCycle() {
      @Override
      public void after(CycleReport report) {
        feed.cycled();
      }
    };
  }

  @Bean(destroyMethod = "close")
  LookBesideCycle looksAfterCycles(FrontDesk desk) {
    return new LookBesideCycle(desk);
  }

  @Bean
  CycleTimer cycleTimer(
      Cycle cycle, Store store, Settings settings, CycleMeters meters, List<BesideCycle> beside) {
    return new CycleTimer(cycle, store, settings, meters, beside);
  }

  @Bean(destroyMethod = "close")
  Webhooks webhooks(
      Settings settings, EventFeed feed, CycleTimer timer, Clock clock, MeterRegistry meters) {
    return new Webhooks(settings.hooks(), feed, timer::decides, clock, meters);
  }

  /** In place of Spring's own, by its name. */
  @Bean
  DatabaseHealth dbHealthIndicator(DataSource source) {
    return new DatabaseHealth(source);
  }

  @Bean
  CycleHealth cycleHealthIndicator(CycleTimer timer, Store store, Settings settings, Clock clock) {
    return new CycleHealth(timer, store, settings, clock);
  }

  @Bean
  ActivePolicy activePolicy(Rollout rollout) {
    return ActivePolicy.of(rollout.inForce(), rollout::status);
  }

  @Bean
  RuleHistory ruleHistory(PostgresStore store) {
    return store.ruleHistory();
  }

  @Bean
  RuleBook ruleBook(
      PolicyInForce policy,
      Store store,
      RuleHistory history,
      Recorder recorder,
      PastPolicies past,
      Clock clock) {
    return new RuleBookOfService(policy, store, history, recorder, past, clock);
  }

  /** Whoever asks for a cycle finds what it decided, not what the look before knew. */
  @Bean
  CycleNow cycleNow(CycleTimer timer, LookBesideCycle looks) {
    return CycleNow.of(
        () -> {
          CycleReport report = timer.run();
          looks.look();
          return report;
        });
  }

  @Bean
  Demo demo(Mode mode, Settings settings, Desk desk) {
    return new Demo(mode == Mode.DEMO && !BudgetDemo.shows(settings.policy()), desk);
  }

  @Bean
  BudgetDemo budgetDemo(
      Mode mode, Settings settings, Desk desk, Contract contract, AccountDesk accounts) {
    return new BudgetDemo(
        mode == Mode.DEMO && BudgetDemo.shows(settings.policy()), desk, contract, accounts);
  }
}
