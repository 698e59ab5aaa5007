package evenhand.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import evenhand.api.RuleBook;
import evenhand.check.Check;
import evenhand.cycle.AccountSetup;
import evenhand.cycle.Cycle;
import evenhand.cycle.CycleSettings;
import evenhand.cycle.Desk;
import evenhand.cycle.FrontDesk;
import evenhand.cycle.PastPolicies;
import evenhand.cycle.PolicyInForce;
import evenhand.cycle.Recorder;
import evenhand.cycle.Router;
import evenhand.cycle.SomeJob;
import evenhand.explain.PolicyDoc;
import evenhand.facts.Tier;
import evenhand.policy.EditedRules;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.RuleFiles;
import evenhand.simulator.ManualClock;
import evenhand.simulator.SimulatedCluster;
import evenhand.store.Database;
import evenhand.store.PostgresRuleHistory;
import evenhand.store.PostgresStore;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The rules as a document of their day, and what was decided as scenarios. */
class RuleBookTest {
  private static final Instant T0 = Instant.parse("2026-04-10T09:00:00Z");
  private static final Tier MID = new Tier("4090", 20, 82.6, 8, true, "mid", "gpu:4090");

  @TempDir Path folder;

  @Test
  void theDocumentOfAPastHashIsThatOfItsDay() throws Exception {
    Policy first = Policies.load(Optional.empty(), "reservation", Map.of());
    EditedRules edited =
        EditedRules.in(folder.resolve("rules"))
            .edit(
                "dispatch/D4.drl",
                "// D4  A job that can neither start nor reserve waits",
                "// D4  Edited since. A job that can neither start nor reserve waits");
    Policy second = Policies.load(Optional.of(edited.folder()), "reservation", Map.of());
    PolicyInForce policy = new PolicyInForce(first);
    DataSource source = Database.fresh();
    ManualClock clock = new ManualClock(T0);
    Recorder recorder = new JsonRecorder();
    SimulatedCluster cluster = new SimulatedCluster(clock);
    cluster.node("n1", MID, 2);
    try (PostgresStore store = new PostgresStore(source)) {
      store.setUp(List.of(MID), List.of(new AccountSetup("A", null, 1)), T0);
      Cycle cycle =
          new Cycle(store, cluster, Router.NONE, policy, recorder, clock, CycleSettings.DEFAULT);
      Desk desk = new FrontDesk(store, policy, cycle::latest, CycleSettings.DEFAULT, clock);
      RuleBook book =
          new RuleBookOfService(
              policy, store, new PostgresRuleHistory(source), recorder, new PastPolicies(), clock);
      cycle.run();
      assertThat(book.doc(null).counts()).contains("no decision is recorded");
      desk.submit(SomeJob.PLAIN.of("A").on(1, null).made(), null);
      String waits = desk.submit(SomeJob.PLAIN.of("A").on(2, null).made(), null).id();
      clock.advance(Duration.ofSeconds(5));
      cycle.run();
      policy.exchange(second);
      desk.submit(SomeJob.PLAIN.of("A").on(1, null).made(), null);
      clock.advance(Duration.ofSeconds(5));
      cycle.run();

      PolicyDoc now = book.doc(null);
      assertThat(now.hash()).isEqualTo(second.hash());
      assertThat(clause(now, "D4").text()).startsWith("D4  Edited since.");
      assertThat(clause(now, "D1").lastDay()).isEqualTo(1);
      assertThat(now.neverFired())
          .contains("R3 A reservation whose job is no longer first is released");
      assertThat(now.neverFired()).noneMatch(r -> r.startsWith("D1 "));
      assertThat(clause(now, "F1").rules().get(0).lastDay()).as("makes no outcome").isNull();
      assertThat(clause(now, "R3").scenarios())
          .anySatisfy(
              s -> {
                assertThat(s.title()).startsWith("S5");
                assertThat(s.rows().get(1).expected()).anyMatch(e -> e.startsWith("release"));
              });
      PolicyDoc then = book.doc(first.hash().substring(0, 20));
      assertThat(then.hash()).isEqualTo(first.hash());
      assertThat(clause(then, "D4").text()).startsWith("D4  A job that can neither");
      assertThat(then.markdown()).contains("## D4 ").contains("| at | given | expected |");
      assertThat(clause(then, "D1").lastDay()).isEqualTo(1);
      assertThat(then.counts()).contains("The scenarios are those at hand today");
      assertThat(now.counts()).doesNotContain("at hand today");
      Desk.Refused none = catchThrowableOfType(Desk.Refused.class, () -> book.doc("sha256:0000"));
      assertThat(none.code()).isEqualTo("NOT_FOUND");

      for (String odd : List.of("", "s", "sha256:", "sha256:%", "\0", "sha256:zz")) {
        assertThat(catchThrowableOfType(Desk.Refused.class, () -> book.doc(odd)).code())
            .as(odd)
            .isEqualTo("INVALID_REQUEST");
      }
      assertThat(book.doc(second.hash().substring(7, 20)).hash()).isEqualTo(second.hash());
      for (String odd : List.of("01", "+1", "x", "", "99999999999999999999")) {
        assertThat(catchThrowableOfType(Desk.Refused.class, () -> book.scenarioOfJob(odd)).code())
            .isEqualTo("NOT_FOUND");
        assertThat(
                catchThrowableOfType(Desk.Refused.class, () -> book.scenarioOfDecision(odd)).code())
            .isEqualTo("NOT_FOUND");
      }

      RuleBook.Recorded recorded = book.scenarioOfJob(waits);
      Check.Result result =
          new Check(RuleFiles.of(Optional.empty()))
              .run(new Check.Text(recorded.file(), recorded.scenario()));
      assertThat(result.differences()).isEmpty();
      assertThat(recorded.scenario()).contains("reserve: {job: j").doesNotContain("kim");
      assertThat(
              catchThrowableOfType(Desk.Refused.class, () -> book.scenarioOfDecision("4711"))
                  .code())
          .isEqualTo("NOT_FOUND");
    }
  }

  private static PolicyDoc.Clause clause(PolicyDoc doc, String id) {
    return doc.clauses().stream().filter(c -> c.clause().equals(id)).findFirst().orElseThrow();
  }
}
