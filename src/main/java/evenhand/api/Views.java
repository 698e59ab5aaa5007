package evenhand.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonRawValue;
import evenhand.cycle.Desk;
import evenhand.cycle.JobState;
import evenhand.cycle.Receipts;
import evenhand.facts.Share;
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
      @JsonProperty("checkpoint_at") Instant checkpointAt) {

    static Job of(Desk.JobView v) {
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
          v.checkpointAt());
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

  @Schema(name = "Account")
  record Account(
      String id,
      String parent,
      double weight,
      @JsonProperty("cumulative_usage") double cumulativeUsage) {

    static Account of(Desk.AccountView v) {
      return new Account(v.id(), v.parent(), v.weight(), v.cumulativeUsage());
    }
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
      Instant at) {

    static Explanation of(Desk.Explanation v) {
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
          v.at());
    }
  }

  /** A recorded decision in a list: what it is, without what it says. */
  @Schema(name = "DecisionLine")
  record DecisionLine(
      String id, Instant at, String policy, @JsonProperty("policy_hash") String policyHash) {

    static DecisionLine of(Desk.DecisionView v) {
      return new DecisionLine(v.id(), v.at(), v.policy(), v.policyHash());
    }
  }

  /**
   * A recorded decision.
   *
   * @param decision as in FORMATS 2, byte for byte as it was recorded
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
