package evenhand.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonRawValue;
import evenhand.cycle.DecisionFound;
import evenhand.cycle.Desk;
import evenhand.cycle.JobState;
import evenhand.cycle.Receipts;
import evenhand.explain.SmallestChanges;
import evenhand.facts.Share;
import evenhand.policy.AccountTree;
import io.swagger.v3.oas.annotations.media.Schema;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** What {@link Desk} answers, in the words of the API. */
final class Views {
  private Views() {}

  @Schema(name = "Job")
  record Job(
      String id,
      String name,
      String account,
      String user,
      JobState state,
      @JsonProperty("state_reason") String stateReason,
      int nodes,
      @JsonProperty("num_gpus") int numGpus,
      String tier,
      @JsonProperty("minimum_tier_sort_order") int minimumTierSortOrder,
      int priority,
      @JsonProperty("min_runtime_s") long minRuntime,
      boolean resumable,
      boolean preemptible,
      @JsonProperty("time_limit_s") Long timeLimit,
      int attempt,
      @JsonProperty("submitted_at") Instant submittedAt,
      @JsonProperty("queued_at") Instant queuedAt,
      @JsonProperty("started_at") Instant startedAt,
      @JsonProperty("ended_at") Instant endedAt,
      @JsonProperty("exit_code") Integer exitCode,
      @JsonProperty("cluster_job") String clusterJob,
      Gpus reservation,
      List<Gpus> on,
      @JsonProperty("reservation_tflop_s") double reservationTflopSeconds,
      @JsonProperty("charged_tflop_s") double chargedTflopSeconds,
      @JsonProperty("makes_room_for") String makesRoomFor,
      @JsonProperty("ends_by") Instant endsBy,
      @JsonProperty("waits_for") List<String> waitsFor,
      @JsonProperty("waits_until") Instant waitsUntil,
      @JsonProperty("checkpoint_at") Instant checkpointAt,
      @JsonInclude(JsonInclude.Include.NON_NULL) Terms terms) {

    static Job of(Desk.JobView v) {
      return of(v, null);
    }

    /**
     * @param terms what a submission is answered with besides; null elsewhere
     */
    static Job of(Desk.JobView v, Desk.Terms terms) {
      return new Job(
          v.id(),
          v.name(),
          v.account(),
          v.user(),
          v.state(),
          v.stateReason(),
          v.nodes(),
          v.numGpus(),
          v.tier(),
          v.minimumTierSortOrder(),
          v.priority(),
          v.minRuntimeSeconds(),
          v.resumable(),
          v.preemptible(),
          v.timeLimitSeconds(),
          v.attempt(),
          v.submittedAt(),
          v.queuedAt(),
          v.startedAt(),
          v.endedAt(),
          v.exitCode(),
          v.clusterJob(),
          Gpus.of(v.reservation()),
          v.on() == null ? List.of() : v.on().stream().map(Gpus::of).toList(),
          v.reservationTflopSeconds(),
          v.chargedTflopSeconds(),
          v.makesRoomFor(),
          v.endsBy(),
          v.waitsFor(),
          v.waitsUntil(),
          v.checkpointAt(),
          Terms.of(terms));
    }
  }

  /** See {@link Desk.Terms}. */
  @Schema(name = "Terms")
  record Terms(
      Boolean allocated,
      @JsonProperty("protected_s") long protectedSeconds,
      @JsonProperty("minimum_gpu_h") double minimumGpuHours,
      @JsonProperty("minimum_of_window") Double shareOfWindow,
      Integer position,
      @JsonProperty("queue_length") int queueLength,
      String message) {

    static Terms of(Desk.Terms t) {
      return t == null
          ? null
          : new Terms(
              t.allocated(),
              t.protectedSeconds(),
              t.minimumGpuHours(),
              t.shareOfWindow(),
              t.position(),
              t.queueLength(),
              t.message());
    }
  }

  /**
   * Which of two waiting jobs comes first.
   *
   * @param above the account below which their accounts part; null at the top, and for another key
   * @param cause ratio, longest_waiting, name or above, where the tree decides
   * @param by the difference of their ratios, where ratios decide
   */
  @Schema(name = "Comparison")
  record Comparison(
      String first,
      String second,
      String key,
      @JsonProperty("of_first") Object ofFirst,
      @JsonProperty("of_second") Object ofSecond,
      String above,
      @JsonProperty("first_branch") Step firstBranch,
      @JsonProperty("second_branch") Step secondBranch,
      String cause,
      Double by,
      String message) {

    static Comparison of(Desk.Comparison c) {
      AccountTree.Fork f = c.fork();
      return new Comparison(
          c.first(),
          c.second(),
          c.key(),
          c.ofFirst(),
          c.ofSecond(),
          f == null ? null : f.above(),
          f == null ? null : Step.of(f.first()),
          f == null ? null : Step.of(f.second()),
          f == null ? null : Query.wordOf(f.cause()),
          f == null || f.cause() != AccountTree.Cause.RATIO
              ? null
              : finite(f.second().ratio() - f.first().ratio()),
          c.message());
    }
  }

  /** GPUs of one tier on one node. */
  @Schema(name = "Gpus")
  record Gpus(String node, String tier, int gpus) {
    static Gpus of(Desk.ReservationView v) {
      return v == null ? null : new Gpus(v.node(), v.tier(), v.gpus());
    }

    static Gpus of(Share share) {
      return new Gpus(share.node(), share.tier().name(), share.gpus());
    }
  }

  @Schema(name = "QueueLine")
  record QueueLine(
      int position,
      String id,
      String name,
      String account,
      String user,
      int nodes,
      @JsonProperty("num_gpus") int numGpus,
      String tier,
      @JsonProperty("queued_at") Instant queuedAt,
      Map<String, Object> figures,
      List<Step> path,
      Gpus reservation,
      String code,
      String message) {

    static QueueLine of(Desk.QueueLine v) {
      return new QueueLine(
          v.position(),
          v.id(),
          v.name(),
          v.account(),
          v.user(),
          v.nodes(),
          v.numGpus(),
          v.tier(),
          v.queuedAt(),
          v.figures(),
          v.path().stream().map(Step::of).toList(),
          Gpus.of(v.reservation()),
          v.code(),
          v.message());
    }
  }

  @Schema(name = "Placement")
  record Placement(
      String node,
      String tier,
      int capacity,
      int idle,
      int reserved,
      @JsonProperty("reserved_for") String reservedFor,
      String state,
      String reason,
      List<String> jobs) {

    static Placement of(Desk.PlacementView v) {
      return new Placement(
          v.node(),
          v.tier(),
          v.capacity(),
          v.idle(),
          v.reserved(),
          v.reservedFor(),
          v.state().word(),
          v.reason(),
          v.jobs() == null ? List.of() : v.jobs());
    }
  }

  /**
   * One step down the account tree.
   *
   * @param ratio of the two shares; null without weight
   */
  @Schema(name = "Step")
  record Step(
      String account,
      double usage,
      @JsonProperty("usage_share") double usageShare,
      @JsonProperty("weight_share") double weightShare,
      Double ratio) {

    static Step of(AccountTree.Step s) {
      return new Step(s.account(), s.usage(), s.usageShare(), s.weightShare(), finite(s.ratio()));
    }
  }

  /** JSON has no infinity. */
  static Double finite(double value) {
    return Double.isFinite(value) ? value : null;
  }

  @Schema(name = "Explanation")
  record Explanation(
      String id,
      JobState state,
      String code,
      String rule,
      @JsonProperty("rule_name") String ruleName,
      String message,
      String behind,
      String needs,
      String best,
      Integer position,
      List<QueueLine> ahead,
      @JsonProperty("ahead_count") int aheadCount,
      String decision,
      Instant at,
      @JsonInclude(JsonInclude.Include.NON_NULL) Comparison against,
      @JsonProperty("as_of") Instant asOf,
      List<Miss> eliminated,
      @JsonInclude(JsonInclude.Include.NON_NULL) Changes changes,
      @JsonInclude(JsonInclude.Include.NON_NULL) Bound bound,
      List<Told> story,
      @JsonInclude(JsonInclude.Include.NON_NULL) Estimate estimate) {

    /**
     * @param against how it stands to another job, where that was asked; else null
     */
    static Explanation of(Desk.Explanation v, Desk.Comparison against) {
      return new Explanation(
          v.id(),
          v.state(),
          v.code(),
          v.rule(),
          v.ruleName(),
          v.message(),
          v.behind(),
          v.needs(),
          v.best(),
          v.position(),
          v.ahead() == null ? List.of() : v.ahead().stream().map(QueueLine::of).toList(),
          v.aheadCount(),
          v.decision(),
          v.at(),
          against == null ? null : Comparison.of(against),
          v.details().asOf(),
          v.details().eliminated().stream().map(Miss::of).toList(),
          Changes.of(v.details().changes()),
          Bound.of(v.details().bound()),
          v.details().story().stream().map(Told::of).toList(),
          Estimate.of(v.details().estimate()));
    }
  }

  /** See {@link evenhand.explain.Miss}. */
  @Schema(name = "Miss")
  record Miss(
      String tier,
      int capacity,
      String state,
      String condition,
      int placements,
      String node,
      int idle,
      int reserved,
      int needed,
      @JsonProperty("reserved_for") String reservedFor,
      @JsonProperty("protected_until") Instant protectedUntil,
      String message) {

    static Miss of(evenhand.explain.Miss m) {
      return new Miss(
          m.tier(),
          m.capacity(),
          m.state(),
          m.condition(),
          m.placements(),
          m.node(),
          m.idle(),
          m.reserved(),
          m.needed(),
          m.holder(),
          m.until(),
          m.message());
    }
  }

  /**
   * See {@link SmallestChanges}.
   *
   * @param asIs where the next cycle would start it as it is, else null
   */
  @Schema(name = "Changes")
  record Changes(
      @JsonProperty("as_is") List<Gpus> asIs, List<Change> items, int asked, boolean complete) {

    static Changes of(SmallestChanges c) {
      return c == null
          ? null
          : new Changes(
              c.asIs() == null ? null : c.asIs().stream().map(Gpus::of).toList(),
              c.changes().stream().map(Change::of).toList(),
              c.asked(),
              c.complete());
    }
  }

  /** See {@link evenhand.explain.Change}. */
  @Schema(name = "Change")
  record Change(
      String kind,
      Object from,
      Object to,
      List<Gpus> on,
      List<String> ends,
      @JsonProperty("protected_jobs") List<String> protectedJobs,
      Boolean anew,
      String message) {

    static Change of(evenhand.explain.Change c) {
      return new Change(
          c.kind(),
          c.from(),
          c.to(),
          c.on().stream().map(Gpus::of).toList(),
          c.ends(),
          c.protectedJobs(),
          c.anew(),
          c.message());
    }
  }

  /** See {@link Desk.Bound}. */
  @Schema(name = "Bound")
  record Bound(@JsonProperty("not_later_than") Instant notLaterThan, String message) {

    static Bound of(Desk.Bound b) {
      return b == null ? null : new Bound(b.notLaterThan(), b.message());
    }
  }

  /** See {@link Desk.Told}. */
  @Schema(name = "Told")
  record Told(Instant at, String what, String rule, String message, String decision) {

    static Told of(Desk.Told t) {
      return new Told(t.at(), t.what(), t.rule(), t.message(), t.decision());
    }
  }

  /** See {@link Desk.Estimate}. */
  @Schema(name = "Estimate")
  record Estimate(
      Instant p50,
      Instant p90,
      int runs,
      @JsonProperty("earlier_checked") int checked,
      @JsonProperty("earlier_held") int held,
      String message) {

    static Estimate of(Desk.Estimate e) {
      return e == null
          ? null
          : new Estimate(e.p50(), e.p90(), e.runs(), e.checked(), e.held(), e.message());
    }
  }

  /** A recorded decision in a list: by which clauses it had something new to say. */
  @Schema(name = "DecisionLine")
  record DecisionLine(
      String id,
      Instant at,
      String policy,
      @JsonProperty("policy_hash") String policyHash,
      List<Said> said) {

    static DecisionLine of(DecisionFound v) {
      return new DecisionLine(
          v.id(),
          v.at(),
          v.policy(),
          v.policyHash(),
          v.said().stream().map(s -> new Said(s.clause(), s.jobs(), s.of())).toList());
    }
  }

  /**
   * @param jobs about how many jobs
   * @param of the first few of them
   */
  @Schema(name = "Said")
  record Said(String clause, int jobs, List<String> of) {}

  /**
   * A recorded decision.
   *
   * @param decision in the form that is printed, byte for byte as it was recorded
   */
  @Schema(name = "RecordedDecision")
  record RecordedDecision(
      String id,
      Instant at,
      String policy,
      @JsonProperty("policy_hash") String policyHash,
      @JsonRawValue String decision) {

    static RecordedDecision of(Desk.DecisionView v) {
      return new RecordedDecision(v.id(), v.at(), v.policy(), v.policyHash(), v.json());
    }
  }

  /**
   * What became of a decision made again.
   *
   * @param same whether it came out byte for byte as it was recorded
   * @param part what is not as it was, and {@code message} a sentence about it; null when all is
   */
  @Schema(name = "Verdict")
  record Verdict(String id, boolean same, String part, String message) {

    static Verdict of(Receipts.Verdict v) {
      return new Verdict(v.id(), v.same(), v.part(), v.message());
    }
  }
}
