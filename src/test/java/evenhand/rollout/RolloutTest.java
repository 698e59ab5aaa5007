package evenhand.rollout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import evenhand.cycle.CycleReport;
import evenhand.cycle.Desk;
import evenhand.cycle.SomeJob;
import evenhand.policy.PolicyFault;
import evenhand.policy.RuleFailed;
import evenhand.rollout.Rollout.Applies;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Which policy decides, when the rules change, fail, and are taken back. */
class RolloutTest {
  /** {@code -Devenhand.damaged=200} for a night. */
  private static final int DAMAGED = Integer.getInteger("evenhand.damaged", 15);

  private static final int RELOADS = Integer.getInteger("evenhand.reloads", 10);
  private static final String FF1 = "baseline/FF1.drl";
  private static final String SPREAD = "[tier_desc, idle_desc, node_asc]";
  private static final String PACK = "[tier_desc, idle_asc, node_asc]";

  @TempDir Path folder;

  private RolloutSite site() throws IOException {
    return new RolloutSite(folder.resolve("rules"), "fifo");
  }

  /** An edit that the scenarios of policy fifo do not speak of. */
  private static void pack(RolloutSite site) throws IOException {
    site.rules.edit("policies/fifo.yaml", SPREAD, PACK);
  }

  private static void spread(RolloutSite site) throws IOException {
    site.rules.edit("policies/fifo.yaml", PACK, SPREAD);
  }

  private static String fault(Rollout rollout) {
    return String.join("\n", rollout.status().faults().stream().map(Object::toString).toList());
  }

  private static String code(Runnable refused) {
    try {
      refused.run();
      return null;
    } catch (Desk.Refused e) {
      return e.code();
    }
  }

  @Test
  void anEditWaitsUntilItIsPlannedAndAppliedAndIsTakenBack() throws Exception {
    try (RolloutSite site = site().start(Applies.PLANNED_ONLY);
        Planner planner = site.planner()) {
      site.submit(SomeJob.PLAIN.of("red").on(4, null));
      assertThat(site.cycle().result()).isEqualTo(CycleReport.Result.DECIDED);
      String first = site.rollout.inForce().get().hash();
      assertThat(site.rollout.status().inForce().by()).isEqualTo("settings");
      assertThat(code(() -> site.rollout.rollback("kim", "why"))).isEqualTo("NO_PREVIOUS");

      pack(site);
      site.rollout.look();
      assertThat(site.rollout.status().candidate()).as("not at rest yet").isNull();
      site.rollout.look();
      String edited = site.rollout.status().candidate();
      assertThat(edited).startsWith("sha256:").isNotEqualTo(first);
      site.cycle();
      assertThat(site.rollout.inForce().get().hash()).isEqualTo(first);
      assertThat(code(() -> site.rollout.apply(edited, "kim", "why", false)))
          .isEqualTo("NOT_PLANNED");
      assertThat(code(() -> site.rollout.apply("best fit", "kim", "why", false)))
          .isEqualTo("INVALID_REQUEST");

      Planner.Standing plan = site.plan(planner, Map.of(), null);
      assertThat(plan.state()).as(plan.failure() + plan.faults()).isEqualTo(Planner.State.DONE);
      assertThat(plan.report())
          .contains(edited, "\"file\":\"policies/fifo.yaml\"", "-    keys: [tier_desc, idle_desc")
          .contains("policy apply " + edited, "\"verdict\":\"PASSES\"");
      assertThat(site.book.plan(plan.id()).orElseThrow().report()).isEqualTo(plan.report());

      site.rollout.apply(edited.substring(0, 20), "kim", "whole nodes stay free", false);
      site.submit(SomeJob.PLAIN.of("red").on(1, null));
      CycleReport next = site.cycle();
      assertThat(next.decision().policyHash()).isEqualTo(edited);
      assertThat(site.rollout.status().candidate()).isNull();
      assertThat(code(() -> site.rollout.apply(edited, "kim", "again", false)))
          .isEqualTo("IN_FORCE");
      assertThat(site.store.receipt(Long.parseLong(next.decisionId())).orElseThrow().policyTexts())
          .isEqualTo(site.rollout.inForce().get().texts());

      site.rollout.rollback("lee", "gangs wait longer");
      assertThat(site.cycle().decision().policyHash()).isEqualTo(first);
      assertThat(code(() -> site.rollout.apply(edited, "kim", "why", false)))
          .as("planned against what is in force again")
          .isNull();
      site.rollout.rollback("lee", "still");
      assertThat(site.rollout.history(10, Long.MAX_VALUE))
          .extracting(e -> e.kind() + " " + e.by() + ": " + e.reason())
          .containsExactly(
              "ROLLED_BACK lee: still",
              "APPLIED kim: why",
              "ROLLED_BACK lee: gangs wait longer",
              "APPLIED kim: whole nodes stay free",
              "FIRST settings: the first start on this database");
      assertThatThrownBy(
              () -> JdbcClient.create(site.source).sql("delete from policy_history").update())
          .hasMessageContaining("append-only");
    }
  }

  @Test
  void aRestartSneaksNoEditInUnlessTheSettingsSayThatItMay() throws Exception {
    try (RolloutSite site = site()) {
      String first;
      try (Rollout begun = site.begin(Applies.PLANNED_ONLY)) {
        first = begun.inForce().get().hash();
      }
      pack(site);
      String edited;
      try (Rollout begun = site.begin(Applies.PLANNED_ONLY)) {
        assertThat(begun.inForce().get().hash()).isEqualTo(first);
        edited = begun.status().candidate();
        assertThat(edited).isNotNull();
      }
      site.rules.edit(FF1, "waitingBefore != null )\n  then", "waitingBefore != )\n  then");
      try (Rollout begun = site.begin(Applies.ON_CHANGE)) {
        assertThat(begun.inForce().get().hash())
            .as("the rules at hand are broken")
            .isEqualTo(first);
        assertThat(fault(begun)).contains(FF1 + ":7");
      }
      site.rules.edit(FF1, "waitingBefore != )", "waitingBefore != null )");
      try (Rollout begun = site.begin(Applies.ON_CHANGE)) {
        assertThat(begun.inForce().get().hash()).isEqualTo(edited);
        assertThat(begun.status().inForce().reason()).contains("on_change");
      }
      // Another policy named in the settings is an act of whoever runs the service.
      try (Rollout begun = site.begin(Applies.PLANNED_ONLY, "skip")) {
        assertThat(begun.inForce().get().name()).isEqualTo("skip");
        assertThat(begun.history(1, Long.MAX_VALUE).get(0).reason())
            .isEqualTo("evenhand.policy is skip now and was fifo");
        begun.rollback("kim", "back");
      }
      try (Rollout begun = site.begin(Applies.PLANNED_ONLY, "skip")) {
        assertThat(begun.inForce().get().hash())
            .as("the settings say what they said, and the policy in force stands")
            .isEqualTo(edited);
      }
    }
  }

  @Test
  void whatEditorsLeaveHalfWrittenOrBehindChangesNothing() throws Exception {
    try (RolloutSite site = site().start(Applies.ON_CHANGE)) {
      site.look();
      final String first = site.rollout.inForce().get().hash();
      Path baseline = site.rules.folder().resolve("baseline");
      String text = Files.readString(baseline.resolve("FF1.drl"));
      for (String name :
          List.of("#FF1.drl#", ".#FF1.drl", ".FF1.drl.swp", "FF1.drl~", "4913", "FF1.drl.tmp")) {
        Files.writeString(baseline.resolve(name), "rule \"");
      }
      Files.writeString(site.rules.folder().resolve("policies/.#fifo.yaml"), "policy: [");
      site.look();
      assertThat(site.rollout.status().faults()).isEmpty();
      assertThat(site.rollout.status().candidate()).isNull();

      // Half of it is there when it is looked at, the rest a moment later.
      Files.writeString(baseline.resolve("FF1.drl"), text.substring(0, text.length() / 2));
      site.rollout.look();
      Files.writeString(baseline.resolve("FF1.drl"), text);
      site.look();
      assertThat(site.rollout.faultsFound()).isZero();

      // Half of it stays: told once, and taken back when the rest is there.
      Files.writeString(baseline.resolve("FF1.drl"), text.substring(0, text.length() * 3 / 4));
      site.look();
      site.look();
      assertThat(site.rollout.faultsFound()).isEqualTo(1);
      assertThat(fault(site.rollout)).contains(FF1 + ":");
      assertThat(site.cycle().result()).isEqualTo(CycleReport.Result.DECIDED);
      Files.writeString(baseline.resolve("FF1.drl"), text);
      site.look();
      assertThat(site.rollout.status().faults()).isEmpty();

      // Two files with one rule name.
      Files.writeString(
          baseline.resolve("FF2.drl"), text.replace("FF1 ", "FF2 ").replace("( FF1 )", "( FF2 )"));
      site.rules.edit(
          "policies/fifo.yaml", "  - baseline/FF1\n", "  - baseline/FF1\n  - baseline/FF2\n");
      Files.writeString(
          baseline.resolve("FF2.drl"),
          text.replace(
              "rule \"FF1 A job behind", "rule \"FF1 Nobody passes a job that waits\" // "));
      site.look();
      assertThat(fault(site.rollout)).contains("baseline/FF2.drl");

      // The folder is gone.
      Path away = folder.resolve("away");
      Files.move(site.rules.folder(), away);
      site.look();
      assertThat(fault(site.rollout)).contains("cannot be read; put the folder back");
      assertThat(site.cycle().decision().policyHash()).isEqualTo(first);
      // It comes back as a link to where it is now: edits there are seen.
      Files.createSymbolicLink(site.rules.folder(), away);
      site.rules.edit("policies/fifo.yaml", "  - baseline/FF2\n", "");
      pack(site);
      site.look();
      assertThat(site.rollout.status().faults()).isEmpty();
      assertThat(site.cycle().decision().policyHash()).as("on change").isNotEqualTo(first);
      assertThat(site.rollout.status().inForce().by()).isEqualTo("the rules folder");
    }
  }

  private static void ruleThatFails(RolloutSite site) throws IOException {
    Files.writeString(
        site.rules.folder().resolve("baseline/Z9.drl"),
        """
        // Z9  Made to fail when it is asked about one account.

        rule "Z9 Account boom divides by nothing"
          @clause( Z9 )
          ruleflow-group "permission"
          when
            Turn( $r : request, request.account == "boom" )
            eval( 1 / ( $r.numGpus() - 1 ) > 0 )
          then
            insert( new Veto( "start", "never" ) );
        end
        """);
    site.rules.edit(
        "policies/fifo.yaml", "  - baseline/FF1\n", "  - baseline/FF1\n  - baseline/Z9\n");
  }

  @Test
  void aRuleThatFailsWhileItDecidesGivesWayToThePolicyBeforeOnceAndForAll() throws Exception {
    try (RolloutSite site = site().start(Applies.ON_CHANGE)) {
      site.cycle();
      final String good = site.rollout.inForce().get().hash();
      ruleThatFails(site);
      site.look();
      assertThat(fault(site.rollout)).isEmpty();
      assertThat(site.cycle().result()).isEqualTo(CycleReport.Result.DECIDED);
      final String bad = site.rollout.inForce().get().hash();
      assertThat(bad).isNotEqualTo(good);

      String job = site.submit(SomeJob.PLAIN.of("boom"));
      CycleReport failed = site.cycle();
      assertThat(failed.result()).isEqualTo(CycleReport.Result.RULE_FAILED);
      assertThat(failed.because())
          .contains("baseline/Z9.drl:3: rule \"Z9 Account boom divides by nothing\"", "job " + job);
      assertThat(site.rollout.inForce().get().hash()).isEqualTo(good);
      assertThat(failed.failure())
          .isEqualTo(new CycleReport.Failure("Z9", "Z9 Account boom divides by nothing", job));
      Desk.Explanation why = site.desk.why(job, new Desk.WhyAsked(null, true, true));
      assertThat(why.code()).isEqualTo("RULE_FAILED");
      assertThat(why.rule()).isEqualTo("Z9");
      assertThat(why.ruleName()).isEqualTo("Z9 Account boom divides by nothing");
      assertThat(why.message()).contains("baseline/Z9.drl:3", "divides by zero");
      assertThat(why.decision()).isNull();
      assertThat(site.desk.queue(10, null).items())
          .extracting(Desk.QueueLine::code)
          .containsExactly("RULE_FAILED");
      CycleReport next = site.cycle();
      assertThat(next.result()).isEqualTo(CycleReport.Result.DECIDED);
      assertThat(next.decision().policyHash()).isEqualTo(good);
      assertThat(site.desk.why(job).code()).isNotEqualTo("RULE_FAILED");
      assertThat(site.rollout.fellBack()).isEqualTo(1);
      assertThat(site.rollout.status().alarm()).contains("Z9 Account boom", good + " took over");
      Event fell = site.rollout.history(1, Long.MAX_VALUE).get(0);
      assertThat(fell.kind()).isEqualTo(Event.Kind.FELL_BACK);
      assertThat(fell.reason()).contains("Z9 Account boom divides by nothing");

      // The folder has it still: it is not put in force again by itself, not even by a restart.
      site.look();
      assertThat(fault(site.rollout)).contains("these rules failed when they decided");
      assertThat(site.cycle().decision().policyHash()).isEqualTo(good);
      try (Rollout begun = site.begin(Applies.ON_CHANGE)) {
        assertThat(begun.inForce().get().hash()).isEqualTo(good);
        assertThat(begun.status().alarm()).contains("Z9 Account boom");
      }
      // Once it is edited the alarm is over.
      site.rules.edit("baseline/Z9.drl", "numGpus() - 1", "numGpus() + 1");
      site.look();
      assertThat(site.rollout.status().alarm()).isNull();
      assertThat(site.cycle().result()).isEqualTo(CycleReport.Result.DECIDED);
      assertThat(site.rollout.inForce().get().hash()).isNotIn(good, bad);
    }
  }

  @Test
  void aRuleThatComesToNoEndGivesWayTooAndNothingGoesToAndFro() throws Exception {
    try (RolloutSite site = site().start(Applies.ON_CHANGE)) {
      site.cycle();
      final String good = site.rollout.inForce().get().hash();
      Files.writeString(
          site.rules.folder().resolve("baseline/Z8.drl"),
          """
          // Z8  Made to go on for ever when it is asked about one account.

          rule "Z8 Account loop is refused"
            @clause( Z8 )
            ruleflow-group "permission"
            when
              Turn( request.account == "loop" )
            then
              insert( new Veto( "start", "never" ) );
          end

          rule "Z8 A veto brings another"
            @clause( Z8 )
            ruleflow-group "permission"
            when
              Turn( request.account == "loop" )
              Veto( why == "never" )
            then
              insert( new Veto( "start", "never" ) );
          end
          """);
      site.rules.edit(
          "policies/fifo.yaml", "  - baseline/FF1\n", "  - baseline/FF1\n  - baseline/Z8\n");
      site.look();
      site.cycle();
      String bad = site.rollout.inForce().get().hash();
      assertThat(bad).as(fault(site.rollout)).isNotEqualTo(good);
      site.submit(SomeJob.PLAIN.of("loop"));
      assertThat(site.cycle().because())
          .contains("do not come to an end", "Z8 A veto brings another in baseline/Z8.drl");
      assertThat(site.cycle().decision().policyHash()).isEqualTo(good);

      // Should the one that took over fail as well, nothing moves: it is not the change's fault.
      Rollout other = site.rollout;
      CycleReport alike = failing(site);
      for (int i = 0; i < 3; i++) {
        other.decided(alike);
        assertThat(other.inForce().get().hash()).isEqualTo(good);
      }
      assertThat(other.history(10, Long.MAX_VALUE)).hasSize(3);
      assertThat(site.cycle().decision().policyHash()).isEqualTo(good);
    }
  }

  private static void admissionThatFails(RolloutSite site) throws IOException {
    Files.writeString(
        site.rules.folder().resolve("baseline/Z7.drl"),
        """
        // Z7  Made to fail when account boom submits a job.

        rule "Z7 Account boom is not admitted"
          @clause( Z7 )
          ruleflow-group "admission"
          when
            $r : Request( account == "boom" )
            eval( 1 / ( $r.numGpus() - 1 ) > 0 )
          then
            insert( new Refuse( "INVALID_REQUEST", "account", "never" ) );
        end
        """);
    site.rules.edit(
        "policies/fifo.yaml", "  - baseline/FF1\n", "  - baseline/FF1\n  - baseline/Z7\n");
  }

  @Test
  void aRuleThatFailsOverASubmissionGivesWayToThePolicyBeforeToo() throws Exception {
    try (RolloutSite site = site().start(Applies.ON_CHANGE)) {
      site.cycle();
      final String good = site.rollout.inForce().get().hash();
      admissionThatFails(site);
      site.look();
      site.cycle();
      final String bad = site.rollout.inForce().get().hash();
      assertThat(bad).as(fault(site.rollout)).isNotEqualTo(good);

      String other = site.submit(SomeJob.PLAIN.of("red").on(8, null));
      assertThatThrownBy(() -> site.submit(SomeJob.PLAIN.of("boom")))
          .isInstanceOf(RuleFailed.class)
          .hasMessageContaining("baseline/Z7.drl")
          .hasMessageContaining("Z7 Account boom is not admitted")
          .hasMessageContaining("divides by zero");
      assertThat(site.rollout.inForce().get().hash())
          .as("exchanged between two cycles only")
          .isEqualTo(bad);
      assertThat(site.cycle().decision().policyHash()).isEqualTo(good);
      assertThat(site.rollout.fellBack()).isEqualTo(1);
      assertThat(site.rollout.status().alarm())
          .contains("Z7 Account boom is not admitted", good + " took over");
      assertThat(site.desk.job(site.submit(SomeJob.PLAIN.of("boom"))).account()).isEqualTo("boom");
      assertThat(site.desk.job(other).id()).isEqualTo(other);
      site.look();
      assertThat(site.rollout.status().alarm()).contains("Z7 Account boom is not admitted");
      assertThat(fault(site.rollout)).contains("these rules failed when they decided");
      assertThat(site.cycle().decision().policyHash()).isEqualTo(good);
    }
  }

  @Test
  void whereNoPolicyCanTakeOverAnAlarmIsRaisedAndOutlivesARestart() throws Exception {
    try (RolloutSite site = site()) {
      admissionThatFails(site);
      site.start(Applies.PLANNED_ONLY);
      String only = site.rollout.inForce().get().hash();
      assertThat(site.rollout.status().alarm()).isNull();
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(() -> site.submit(SomeJob.PLAIN.of("boom")))
            .isInstanceOf(RuleFailed.class);
        assertThat(site.cycle().result()).isEqualTo(CycleReport.Result.DECIDED);
      }
      assertThat(site.rollout.inForce().get().hash()).isEqualTo(only);
      assertThat(site.rollout.status().alarm())
          .contains("no earlier policy can take over", "Z7 Account boom is not admitted");
      assertThat(site.rollout.history(10, Long.MAX_VALUE)).hasSize(1);
      try (Rollout begun = site.begin(Applies.PLANNED_ONLY)) {
        assertThat(begun.status().alarm()).contains("Z7 Account boom is not admitted");
      }
      site.rules.edit("baseline/Z7.drl", "numGpus() - 1", "numGpus() + 1");
      try (Planner planner = site.planner()) {
        site.rollout.apply(planned(site, planner, Map.of()), "kim", "mended", false);
      }
      site.cycle();
      assertThat(site.rollout.status().alarm()).isNull();
    }
  }

  @Test
  void rulesThatMultiplyFactsAreTriedOnTheQueueAsItIsBeforeTheyDecide() throws Exception {
    try (RolloutSite site = site()) {
      for (int i = 3; i < 300; i++) {
        site.cluster.node("n" + i, RolloutSite.TIER, 8);
      }
      site.start(Applies.ON_CHANGE);
      site.submit(SomeJob.PLAIN.of("red").on(8, null));
      site.cycle();
      final String good = site.rollout.inForce().get().hash();
      Files.writeString(
          site.rules.folder().resolve("baseline/Z6.drl"),
          """
          // Z6  Made to try each node with each, and these with each again.

          rule "Z6 No job starts where three nodes are one"
            @clause( Z6 )
            ruleflow-group "permission"
            when
              Turn()
              Placement( $a : node )
              Placement( $b : node )
              Placement( node == "never" + $a + $b )
            then
              insert( new Veto( "start", "never" ) );
          end
          """);
      site.rules.edit(
          "policies/fifo.yaml", "  - baseline/FF1\n", "  - baseline/FF1\n  - baseline/Z6\n");
      site.look();
      assertThat(fault(site.rollout))
          .contains("fail on the queue as it is now", "baseline/Z6.drl:3")
          .contains("Z6 No job starts where three nodes are one", "combinations of facts");
      assertThat(site.cycle().decision().policyHash()).isEqualTo(good);
    }
  }

  private static CycleReport failing(RolloutSite site) {
    CycleReport r = site.cycle.latest().report();
    return new CycleReport(
        r.at(),
        CycleReport.Result.RULE_FAILED,
        "something failed",
        new CycleReport.Failure(null, null, null),
        r.readingAt(),
        null,
        null,
        r.decisionId(),
        List.of(),
        0,
        List.of(),
        0,
        0,
        0);
  }

  @Test
  void everyProcessFollowsTheOneRow() throws Exception {
    try (RolloutSite site = site().start(Applies.PLANNED_ONLY);
        Planner planner = site.planner();
        Rollout other = site.begin(Applies.PLANNED_ONLY)) {
      site.cycle();
      pack(site);
      Planner.Standing plan = site.plan(planner, Map.of(), null);
      String edited = site.book.plan(plan.id()).orElseThrow().hash();
      final String first = other.inForce().get().hash();
      site.rollout.apply(edited, "kim", "why", false);
      // The other has none of its texts but those that are stored: it loads them beside its cycles.
      other.follow();
      assertThat(other.inForce().get().hash()).isEqualTo(first);
      for (int i = 0; i < 600 && other.inForce().get().hash().equals(first); i++) {
        Thread.sleep(50);
        other.follow();
      }
      assertThat(other.inForce().get().hash()).isEqualTo(edited);
      assertThat(other.inForce().get().where()).isEqualTo("what is stored");
      other.rollback("lee", "back");
      site.cycle();
      assertThat(site.rollout.inForce().get().hash()).isEqualTo(first);
      assertThat(code(() -> site.rollout.rollback("kim", "further"))).isEqualTo("NO_PREVIOUS");
    }
  }

  @Test
  void textsOfWhatIsInForceOrWasIsNeverForgotten() throws Exception {
    try (RolloutSite site = site().start(Applies.ON_CHANGE)) {
      site.cycle();
      String first = site.rollout.inForce().get().hash();
      pack(site);
      site.look();
      site.cycle();
      site.clock.advance(Duration.ofDays(400));
      site.store.forget(Duration.ofDays(30), site.clock.instant());
      site.rollout.forget(Duration.ofDays(30), site.clock.instant());
      assertThat(site.book.texts(first)).isNotEmpty();
      site.rollout.rollback("kim", "a year later");
      assertThat(site.cycle().decision().policyHash()).isEqualTo(first);
    }
  }

  @Test
  void damagedFilesChangeNothingAndBreakNothing() throws Exception {
    Random random = new Random(20260504);
    try (RolloutSite site = site().start(Applies.ON_CHANGE)) {
      site.submit(SomeJob.PLAIN.of("red").on(8, null));
      site.submit(SomeJob.PLAIN.of("red").on(8, null));
      site.submit(SomeJob.PLAIN.of("green").on(8, null));
      site.submit(SomeJob.PLAIN.of("green").on(1, null));
      site.cycle();
      List<Path> files;
      try (Stream<Path> all = Files.walk(site.rules.folder())) {
        files =
            all.filter(
                    f ->
                        f.endsWith("FF1.drl")
                            || f.endsWith("D4.drl")
                            || f.endsWith("fifo.yaml")
                            || f.endsWith("D1.drl"))
                .sorted()
                .toList();
      }
      assertThat(files).hasSize(4);
      int refused = 0;
      String before = site.rollout.inForce().get().hash();
      for (int i = 0; i < DAMAGED; i++) {
        Path file = files.get(random.nextInt(files.size()));
        byte[] whole = Files.readAllBytes(file);
        Files.write(file, damaged(whole, random));
        long faults = site.rollout.faultsFound();
        site.look();
        CycleReport report = site.cycle();
        assertThat(report.result())
            .as("damage %s of %s", i, file)
            .isEqualTo(CycleReport.Result.DECIDED);
        String now = report.decision().policyHash();
        if (site.rollout.faultsFound() > faults) {
          refused++;
          assertThat(now).as("damage %s of %s", i, file).isEqualTo(before);
        }
        // One policy made all of it.
        assertThat(now).isEqualTo(site.rollout.inForce().get().hash());
        assertThat(report.decision().outcomes())
            .allSatisfy(
                d ->
                    assertThat(site.rollout.inForce().get().clauses())
                        .anyMatch(c -> c.clause().equals(d.rule())));
        before = now;
        Files.write(file, whole);
      }
      assertThat(refused).isGreaterThan(DAMAGED / 2);
    }
  }

  /** Some bytes lost, doubled, changed or cut off. */
  private static byte[] damaged(byte[] whole, Random random) {
    int at = random.nextInt(whole.length);
    int length = Math.min(whole.length - at, 1 + random.nextInt(40));
    return switch (random.nextInt(4)) {
      case 0 -> joined(whole, at, at + length); // lost
      case 1 -> joined(whole, at + length, at); // doubled
      case 2 -> java.util.Arrays.copyOf(whole, at); // cut off
      default -> {
        byte[] changed = whole.clone();
        changed[at] = (byte) random.nextInt(256);
        yield changed;
      }
    };
  }

  private static byte[] joined(byte[] whole, int to, int from) {
    byte[] made = new byte[to + whole.length - from];
    System.arraycopy(whole, 0, made, 0, to);
    System.arraycopy(whole, from, made, to, whole.length - from);
    return made;
  }

  @Test
  void reloadingAgainAndAgainLeavesNothingBehind() throws Exception {
    try (RolloutSite site = site().withoutScenarios().start(Applies.ON_CHANGE)) {
      site.cycle();
      long[] before = null;
      String text = Files.readString(site.rules.folder().resolve(FF1));
      for (int i = 0; i < RELOADS; i++) {
        if (i == RELOADS / 4) {
          before = memory();
        }
        Files.writeString(site.rules.folder().resolve(FF1), text + "// " + i + "\n");
        site.look();
        assertThat(site.cycle().decision().policyHash())
            .isEqualTo(site.rollout.inForce().get().hash())
            .isEqualTo(site.rollout.status().inForce().hash());
      }
      assertThat(site.rollout.history(1, Long.MAX_VALUE).get(0).id()).isEqualTo(RELOADS + 1L);
      long[] after = memory();
      System.out.printf(
          "%d reloads: heap %d -> %d KB, metaspace %d -> %d KB, classes %d -> %d%n",
          RELOADS,
          before[0] >> 10,
          after[0] >> 10,
          before[1] >> 10,
          after[1] >> 10,
          before[2],
          after[2]);
      assertThat(after[0] - before[0]).as("heap").isLessThan(32 << 20);
      assertThat(after[1] - before[1]).as("metaspace").isLessThan(16 << 20);
      assertThat(after[2] - before[2]).as("classes").isLessThan(2000);
    }
  }

  /** Heap and metaspace in use, bytes, and classes, after what is not used any more is gone. */
  private static long[] memory() throws InterruptedException {
    for (int i = 0; i < 3; i++) {
      System.gc();
      Thread.sleep(50);
    }
    long metaspace =
        ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(p -> p.getName().equals("Metaspace"))
            .map(MemoryPoolMXBean::getUsage)
            .mapToLong(u -> u.getUsed())
            .sum();
    return new long[] {
      ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed(),
      metaspace,
      ManagementFactory.getClassLoadingMXBean().getLoadedClassCount()
    };
  }

  @Test
  void whatIsSetForOnceStaysSetUntilItIsTakenBack() throws Exception {
    try (RolloutSite site = site().start(Applies.PLANNED_ONLY);
        Planner planner = site.planner()) {
      site.cycle();
      final String first = site.rollout.inForce().get().hash();
      String set = planned(site, planner, Map.of("max_gpus_per_node", "4"));
      site.rollout.apply(set, "kim", "small jobs this week", false);
      site.cycle();
      assertThat(site.rollout.inForce().get().texts())
          .containsEntry("--set max_gpus_per_node", "4");
      site.look();
      assertThat(site.rollout.status().candidate()).as("the text is the same").isNull();
      assertThat(planned(site, planner, Map.of("max_gpus_per_node", ""))).isEqualTo(first);
      try (Rollout begun = site.begin(Applies.PLANNED_ONLY)) {
        assertThat(begun.inForce().get().hash()).isEqualTo(set);
      }
    }
  }

  private static String planned(RolloutSite site, Planner planner, Map<String, String> set)
      throws InterruptedException {
    Planner.Standing plan = site.plan(planner, set, null);
    assertThat(plan.faults()).isEmpty();
    return site.book.plan(plan.id()).orElseThrow().hash();
  }

  @Test
  void onANewDatabaseRulesThatDoNotPassAreTold() throws Exception {
    try (RolloutSite site = site()) {
      site.rules.edit(FF1, "waitingBefore != null )\n  then", "waitingBefore == null )\n  then");
      assertThatThrownBy(() -> site.begin(Applies.PLANNED_ONLY))
          .isInstanceOf(PolicyFault.class)
          .hasMessageContaining("scenario FF1-1");
      assertThat(site.book.inForce()).isEmpty();
    }
  }
}
