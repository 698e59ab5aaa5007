package evenhand.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import evenhand.cycle.CycleReport;
import io.swagger.v3.oas.annotations.media.Schema;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;

/** Runs a cycle at once, besides those that the clock starts. */
public interface CycleNow {

  /** Runs one whole cycle, after the one under way if there is one, and tells what came of it. */
  Report run();

  /** Tells what became of each cycle that {@code run} runs. */
  static CycleNow of(Supplier<CycleReport> run) {
    return () -> {
      CycleReport report = run.get();
      return new Report(
          report.at(),
          report.result().name(),
          report.because(),
          report.decisionId(),
          report.orders(),
          report.notes(),
          report.wholeMillis());
    };
  }

  /**
   * @param result {@code DECIDED}, or why nothing was: {@code STANDBY}, {@code NO_READING}, …
   * @param because why nothing was decided, in words; null when it was
   * @param decision id of the newest recorded decision, null before any
   * @param orders how many orders to the cluster were carried out
   * @param notes what people who run the service should know
   * @param millis time of all of it
   */
  @Schema(name = "CycleReport")
  record Report(
      Instant at,
      String result,
      String because,
      String decision,
      int orders,
      List<String> notes,
      @JsonProperty("whole_ms") long millis) {
    public Report {
      notes = List.copyOf(notes);
    }
  }
}
