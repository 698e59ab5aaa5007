package evenhand.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import evenhand.cycle.ClusterNow;
import evenhand.cycle.Contract;
import evenhand.cycle.CycleReport;
import evenhand.cycle.JobState;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.media.Schema;
import io.swagger.v3.oas.annotations.tags.Tag;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Instant;
import java.util.List;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** The whole cluster in one answer, all of one moment: what the web page shows first. */
@RestController
@Tag(name = "standing")
@RequestMapping(path = "/v1/now", produces = MediaType.APPLICATION_JSON_VALUE)
class NowRoute {
  private final Contract contract;

  NowRoute(Contract contract) {
    this.contract = contract;
  }

  @GetMapping
  @Operation(
      summary = "The whole cluster at this moment: nodes, who holds what, what is kept for whom")
  Now now(HttpServletRequest request) {
    Query.ofNothing(request);
    return Now.of(contract.standing());
  }

  /** See {@link ClusterNow}. */
  @Schema(name = "Now")
  record Now(
      Instant at,
      @JsonProperty("read_at") Instant readAt,
      LastCycle cycle,
      String policy,
      @JsonProperty("policy_hash") String policyHash,
      List<ContractRoute.Node> nodes,
      List<Holder> running,
      List<Held> held,
      int queued,
      @JsonProperty("queued_gpus") int queuedGpus) {

    static Now of(ClusterNow n) {
      CycleReport report = n.report();
      return new Now(
          n.at(),
          n.readAt(),
          report == null
              ? null
              : new LastCycle(report.at(), report.result().name(), report.because()),
          n.policy(),
          n.policyHash(),
          n.nodes().stream().map(ContractRoute.Node::of).toList(),
          n.holders().stream().map(Holder::of).toList(),
          n.held().stream()
              .map(h -> new Held(h.job(), h.account(), h.node(), h.tier(), h.gpus(), h.claim()))
              .toList(),
          n.queued(),
          n.queuedGpus());
    }
  }

  @Schema(name = "LastCycle")
  record LastCycle(Instant at, String result, String because) {}

  @Schema(name = "Holder")
  record Holder(
      String job,
      String name,
      String account,
      String user,
      JobState state,
      boolean allocated,
      List<Views.Gpus> on,
      @JsonProperty("started_at") Instant startedAt,
      @JsonProperty("protected_until") Instant protectedUntil,
      boolean waits,
      @JsonProperty("makes_room_for") String makesRoomFor,
      @JsonProperty("ends_by") Instant endsBy) {

    static Holder of(ClusterNow.Holder h) {
      return new Holder(
          h.job(),
          h.name(),
          h.account(),
          h.user(),
          h.state(),
          h.allocated(),
          h.on().stream().map(Views.Gpus::of).toList(),
          h.startedAt(),
          h.protectedUntil(),
          h.waits(),
          h.makesRoomFor(),
          h.endsBy());
    }
  }

  @Schema(name = "Held")
  record Held(String job, String account, String node, String tier, int gpus, boolean claim) {}
}
