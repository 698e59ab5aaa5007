package evenhand.cycle;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Where the output of a job's attempts is. */
public final class JobOutputs {
  /** Of a job that was started again and again, the newest are told. */
  private static final int MOST = 10;

  private final Store store;
  private final Function<SubmitOrder, Optional<String>> path;

  /**
   * @param path of an attempt's output on the cluster; empty where there is none, or where the
   *     script names it itself
   */
  public JobOutputs(Store store, Function<SubmitOrder, Optional<String>> path) {
    this.store = store;
    this.path = path;
  }

  /** The file that an attempt writes its output to. */
  public record Output(int attempt, String path) {}

  /**
   * Oldest first; empty for a job that has not been started, or whose output nobody here knows.
   *
   * @throws Desk.Refused {@code NOT_FOUND}
   */
  public List<Output> of(String id) {
    long job = FrontDesk.number("job", id);
    Attempt newest = store.job(job).orElseThrow(() -> FrontDesk.notFound("job", id)).attempt();
    List<Output> outputs = new ArrayList<>();
    int last = newest == null ? 0 : newest.attempt();
    for (int attempt = Math.max(1, last - MOST + 1); attempt <= last; attempt++) {
      int number = attempt;
      path.apply(store.submitOrder(new Token(store.installation(), job, attempt)))
          .ifPresent(file -> outputs.add(new Output(number, file)));
    }
    return outputs;
  }
}
