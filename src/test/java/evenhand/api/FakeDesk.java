package evenhand.api;

import evenhand.cycle.DecisionFilter;
import evenhand.cycle.DecisionFound;
import evenhand.cycle.Desk;
import evenhand.cycle.JobState;
import evenhand.cycle.NewJob;
import evenhand.facts.NodeState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.springframework.dao.DataAccessResourceFailureException;

/** A desk in memory: one placement of two GPUs, and the codes a real one refuses with. */
public final class FakeDesk implements Desk {
  static final Instant AT = Instant.parse("2026-04-10T09:00:00Z");
  public static final String DECISION =
      "{\"policy\":\"reservation\",\"policy_hash\":\"sha256:p\",\"snapshot_hash\":\"sha256:s\","
          + "\"now\":\"2026-04-10T09:00:00Z\",\"outcomes\":[{\"type\":\"wait\",\"job\":\"1\","
          + "\"code\":\"NO_IDLE\",\"behind\":null,\"message\":\"none idle\",\"rule\":\"D4\"},"
          + "{\"type\":\"charge\",\"account\":\"BCG\",\"job\":\"2\",\"tflop_s\":24780.0,"
          + "\"rule\":\"C4\"}]}";

  private final Map<String, JobView> jobs = new LinkedHashMap<>();
  private final Map<String, NewJob> byKey = new HashMap<>();
  private final Map<String, String> idByKey = new HashMap<>();
  private final List<NewJob> received = new ArrayList<>();
  private Supplier<RuntimeException> trouble = () -> null;

  /** Every later call fails with this, until it is null again. */
  public synchronized void fail(Supplier<RuntimeException> with) {
    trouble = with == null ? () -> null : with;
  }

  static RuntimeException databaseAway() {
    return new DataAccessResourceFailureException("connection to secret-host:5432 refused");
  }

  public synchronized void clear() {
    jobs.clear();
    byKey.clear();
    idByKey.clear();
    received.clear();
    trouble = () -> null;
  }

  public synchronized NewJob last() {
    return received.get(received.size() - 1);
  }

  public synchronized int count() {
    return jobs.size();
  }

  private void check() {
    RuntimeException e = trouble.get();
    if (e != null) {
      throw e;
    }
  }

  @Override
  public JobView submit(NewJob job, String idempotencyKey) {
    return receive(job, idempotencyKey).job();
  }

  @Override
  public synchronized Receipt receive(NewJob job, String key) {
    check();
    if (key != null && byKey.containsKey(key)) {
      if (!byKey.get(key).equals(job)) {
        throw new Refused("IDEMPOTENCY_CONFLICT", null, null, "The key was used for another job.");
      }
      return new Receipt(jobs.get(idByKey.get(key)), false);
    }
    if (job.numGpus() > 2) {
      throw new Refused(
          "NO_FIT_PLACEMENT",
          "num_gpus",
          "N2",
          job.numGpus() + " GPUs on one node were asked for; the largest is 2 on n1 (4090).");
    }
    if (job.minRuntimeSeconds() > 28_800) {
      throw new Refused("MIN_RUNTIME_TOO_LONG", "min_runtime_s", "N4", "At most 8h.");
    }
    received.add(job);
    String id = Integer.toString(jobs.size() + 1);
    jobs.put(id, view(id, job, JobState.GLOBAL_QUEUE_WAIT));
    if (key != null) {
      byKey.put(key, job);
      idByKey.put(key, id);
    }
    return new Receipt(jobs.get(id), true);
  }

  private static JobView view(String id, NewJob j, JobState state) {
    return new JobView(
        id,
        j.name(),
        j.account(),
        j.user(),
        state,
        null,
        j.nodes(),
        j.numGpus(),
        j.tier(),
        0,
        j.priority(),
        j.minRuntimeSeconds(),
        j.resumable(),
        j.preemptible(),
        j.timeLimitSeconds(),
        1,
        AT,
        AT,
        null,
        state.ended() ? AT : null,
        null,
        null,
        id.equals("1") && !state.ended() ? new ReservationView("n1", "4090", 1) : null,
        List.of(),
        24780,
        0,
        null,
        null,
        List.of(),
        null,
        null);
  }

  @Override
  public synchronized JobView job(String id) {
    check();
    JobView job = jobs.get(id);
    if (job == null) {
      throw new Refused("NOT_FOUND", null, null, "There is no job " + id + ".");
    }
    return job;
  }

  @Override
  public synchronized Page<JobView> jobs(
      String state, String account, String user, int limit, String cursor) {
    check();
    List<JobView> all = new ArrayList<>(jobs.values());
    java.util.Collections.reverse(all);
    all.removeIf(j -> account != null && !account.equals(j.account()));
    all.removeIf(j -> user != null && !user.equals(j.user()));
    all.removeIf(j -> state != null && !state.equals(j.state().name()));
    int from = cursor == null ? 0 : Integer.parseInt(cursor);
    int to = Math.min(from + limit, all.size());
    return new Page<>(all.subList(from, to), to < all.size() ? Integer.toString(to) : null);
  }

  @Override
  public synchronized JobView cancel(String id, String by) {
    JobView job = job(id);
    NewJob as =
        new NewJob(
            job.name(),
            job.account(),
            job.user(),
            null,
            job.nodes(),
            job.numGpus(),
            job.tier(),
            null,
            job.minRuntimeSeconds(),
            job.resumable(),
            job.priority(),
            job.timeLimitSeconds(),
            "#!",
            List.of(),
            Map.of(),
            null);
    jobs.put(id, view(id, as, JobState.CANCELLED));
    return jobs.get(id);
  }

  private QueueLine line(int position, JobView j) {
    return new QueueLine(
        position,
        j.id(),
        j.name(),
        j.account(),
        j.user(),
        j.nodes(),
        j.numGpus(),
        j.tier(),
        j.queuedAt(),
        Map.of("account_usage", 24000.0),
        List.of(),
        j.reservation(),
        "NO_IDLE",
        "2 GPUs are needed; 1 is idle on n1 (4090).");
  }

  @Override
  public synchronized Page<QueueLine> queue(int limit, String cursor) {
    check();
    List<QueueLine> lines = new ArrayList<>();
    jobs.values().stream()
        .filter(j -> !j.state().ended())
        .forEach(j -> lines.add(line(lines.size() + 1, j)));
    return new Page<>(lines.subList(0, Math.min(limit, lines.size())), null);
  }

  @Override
  public Page<QueueLine> queue(String search, int limit, String cursor) {
    return queue(limit, cursor);
  }

  @Override
  public synchronized List<PlacementView> placements() {
    check();
    return List.of(
        new PlacementView("n1", "4090", 2, 0, 1, "1", NodeState.UP, null, List.of("9")),
        new PlacementView("n2", "4090", 2, 0, 0, null, NodeState.DRAINING, "fan", List.of()));
  }

  @Override
  public synchronized Comparison against(String id, String other) {
    job(id);
    job(other);
    return new Comparison(
        id, other, "account_usage", 24000.0, 28000.0, null, "Job " + id + " comes before it.");
  }

  @Override
  public synchronized Explanation why(String id) {
    JobView job = job(id);
    return new Explanation(
        id,
        job.state(),
        "NO_IDLE",
        "D4",
        "D4 A job that can neither start nor reserve waits",
        "It waits: 2 GPUs are needed; 1 is idle on n1 (4090).",
        "7",
        "2 GPUs on one node",
        "1 idle on n1 (4090)",
        2,
        List.of(line(1, job)),
        1,
        "d-1",
        AT);
  }

  @Override
  public synchronized Page<DecisionView> decisions(String job, int limit, String cursor) {
    check();
    return new Page<>(List.of(decision("d-1")), null);
  }

  @Override
  public synchronized Page<DecisionFound> findDecisions(
      DecisionFilter filter, int limit, String cursor) {
    check();
    DecisionView v = decision("d-1");
    return new Page<>(
        List.of(
            new DecisionFound(
                v.id(),
                v.at(),
                v.policy(),
                v.policyHash(),
                List.of(new DecisionFound.Said("D4", 1, List.of("7"))))),
        null);
  }

  @Override
  public synchronized DecisionView decision(String id) {
    check();
    if (!id.equals("d-1")) {
      throw new Refused("NOT_FOUND", null, null, "There is no decision " + id + ".");
    }
    return new DecisionView("d-1", AT, "reservation", "sha256:p", DECISION);
  }
}
