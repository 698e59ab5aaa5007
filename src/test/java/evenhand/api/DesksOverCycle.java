package evenhand.api;

import evenhand.cycle.Contract;
import evenhand.cycle.Cycle;
import evenhand.cycle.CycleSettings;
import evenhand.cycle.Desk;
import evenhand.cycle.FrontDesk;
import evenhand.cycle.JobOutputs;
import evenhand.cycle.Ledger;
import evenhand.cycle.PastPolicies;
import evenhand.cycle.Receipts;
import evenhand.cycle.Store;
import evenhand.cycle.accounts.AccountDesk;
import evenhand.cycle.events.EventFeed;
import evenhand.policy.Policy;
import evenhand.service.JsonRecorder;
import evenhand.simulator.ManualClock;
import evenhand.store.PostgresStore;
import java.util.Optional;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * The API over the real desks of one cycle. Who imports it brings the store, the policy, the cycle
 * and the clock.
 */
@Configuration
@EnableAutoConfiguration(
    excludeName = {
      "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
      "org.springframework.boot.flyway.autoconfigure.FlywayAutoConfiguration"
    })
@Import(Api.class)
class DesksOverCycle {
  @Bean
  Desk desk(Store store, Policy policy, Cycle cycle, ManualClock clock) {
    return new FrontDesk(store, () -> policy, cycle::latest, cycle.settings(), clock);
  }

  @Bean
  Contract contract(Store store, Policy policy, Cycle cycle, ManualClock clock) {
    return new Contract(store, () -> policy, cycle::latest, clock);
  }

  @Bean
  AccountDesk accountDesk(Store store, Policy policy, ManualClock clock) {
    return new AccountDesk(store, () -> policy, CycleSettings.DEFAULT, clock);
  }

  @Bean
  Access access(ManualClock clock) {
    return Access.open(clock);
  }

  @Bean
  Ledger ledger(Store store, ManualClock clock) {
    return new Ledger(store, CycleSettings.DEFAULT, clock);
  }

  @Bean
  Receipts receipts(Store store) {
    return new Receipts(store, new JsonRecorder(), new PastPolicies());
  }

  @Bean
  EventFeed eventFeed(Store store) {
    return new EventFeed(
        store instanceof PostgresStore postgres ? postgres.events() : new NothingHappens());
  }

  @Bean
  JobOutputs jobOutputs(Store store) {
    return new JobOutputs(store, order -> Optional.empty());
  }

  @Bean
  ActivePolicy activePolicy(Policy policy) {
    return ActivePolicy.of(() -> policy);
  }

  @Bean
  CycleNow cycleNow(Cycle cycle) {
    return CycleNow.of(cycle::run);
  }
}
