package evenhand.cli;

import evenhand.cycle.AccountSetup;
import evenhand.facts.Tier;
import evenhand.simulator.AccountPlan;
import evenhand.simulator.ClusterPlan;
import evenhand.simulator.CsvTrace;
import evenhand.simulator.JobSet;
import evenhand.simulator.Trace;
import evenhand.simulator.TraceJob;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;

/**
 * What a service has seen, as a job set: its jobs, its accounts with the weights as they were, and
 * its GPUs as they are now. Zero of the job set is midnight UTC before the first submission, so
 * that clock hours stay clock hours.
 *
 * <p>A job is taken to run as long as its last attempt ran, however that ended. Jobs that never ran
 * or still run have no known length and are listed beside the others. When nodes were down is not
 * kept by the service, so none is here.
 */
final class ServiceHistory {
  private static final int MOST_JOBS = 2_000_000;

  private final ServiceAddress service;
  private final Console console;

  ServiceHistory(ServiceAddress service, Console console) {
    this.service = service;
    this.console = console;
  }

  /**
   * Reads all of it.
   *
   * @param cluster instead of the service's own GPUs; null for those
   */
  JobSet read(ClusterPlan cluster) {
    List<JsonNode> jobs = service.list(console, "/v1/jobs", MOST_JOBS).items();
    Instant zero =
        jobs.stream()
            .map(job -> time(job, "submitted_at"))
            .min(Comparator.naturalOrder())
            .orElseThrow(
                () ->
                    new Failed(
                        Exit.WRONG_USE,
                        "The service has had no job yet, so there is no history to simulate."))
            .atZone(ZoneOffset.UTC)
            .toLocalDate()
            .atStartOfDay()
            .toInstant(ZoneOffset.UTC);
    ClusterPlan on = cluster == null ? cluster() : cluster;
    AccountPlan accounts = accounts(zero);
    return new JobSet(on, accounts, accounts.known(trace(jobs, zero)), null);
  }

  private static Instant time(JsonNode node, String field) {
    JsonNode value = node.path(field);
    return value.isString() ? Instant.parse(value.asString()) : null;
  }

  private static String text(JsonNode node, String field) {
    JsonNode value = node.path(field);
    return value.isString() ? value.asString() : null;
  }

  private static long micros(Instant from, Instant to) {
    Duration between = Duration.between(from, to);
    return between.toSeconds() * 1_000_000 + between.getNano() / 1000;
  }

  private static Trace trace(List<JsonNode> newestFirst, Instant zero) {
    List<TraceJob> jobs = new ArrayList<>();
    List<Trace.Unreadable> unreadable = new ArrayList<>();
    for (int i = newestFirst.size() - 1; i >= 0; i--) {
      JsonNode job = newestFirst.get(i);
      Instant started = time(job, "started_at");
      Instant ended = time(job, "ended_at");
      String id = job.path("id").asString();
      if (started == null || ended == null || ended.isBefore(started)) {
        String why =
            started == null ? "it never ran" : ended == null ? "it still runs" : "it has no length";
        unreadable.add(
            new Trace.Unreadable(0, why + ", so how long it runs is not known", "job_id " + id));
        continue;
      }
      try {
        jobs.add(
            CsvTrace.checked(
                new TraceJob(
                    id,
                    micros(zero, time(job, "submitted_at")),
                    text(job, "account"),
                    text(job, "user"),
                    job.path("nodes").asInt(1),
                    job.path("num_gpus").asInt(1),
                    text(job, "tier"),
                    micros(started, ended),
                    job.path("min_runtime_s").asLong(0),
                    job.path("resumable").asBoolean(false),
                    job.path("priority").asInt(0),
                    null,
                    job.path("preemptible").asBoolean(true),
                    0)));
      } catch (IllegalArgumentException e) {
        unreadable.add(new Trace.Unreadable(0, e.getMessage(), "job_id " + id));
      }
    }
    return new Trace(jobs, unreadable, newestFirst.size());
  }

  private ClusterPlan cluster() {
    Map<String, Tier> tiers = new TreeMap<>();
    List<ClusterPlan.Gpus> placements = new ArrayList<>();
    for (JsonNode p : service.list(console, "/v1/placements", ClusterPlan.MOST_GPUS).items()) {
      String name = p.path("tier").asString();
      int capacity = p.path("capacity").asInt(0);
      tiers.computeIfAbsent(
          name, n -> new Tier(n, 0, 1, Integer.MAX_VALUE, true, null, "gpu:" + n));
      if (capacity > 0) {
        placements.add(new ClusterPlan.Gpus(p.path("node").asString(), tiers.get(name), capacity));
      }
    }
    if (tiers.size() > 1) {
      throw new Failed(
          Exit.WRONG_USE,
          "The service has GPUs of several tiers, "
              + String.join(", ", tiers.keySet())
              + ", and does not tell which is better; describe the cluster in a file and give it with"
              + " --cluster.");
    }
    if (placements.isEmpty()) {
      throw new Failed(
          Exit.WRONG_USE, "The service has no GPU at present; give a cluster with --cluster.");
    }
    return new ClusterPlan(List.copyOf(tiers.values()), placements, List.of());
  }

  /** The tree as it is, with each weight that changed since as it was then. */
  private AccountPlan accounts(Instant zero) {
    List<AccountSetup> setups = new ArrayList<>();
    List<AccountPlan.Change> changes = new ArrayList<>();
    for (JsonNode a : service.list(console, "/v1/accounts?retired=true", MOST_JOBS).items()) {
      String id = a.path("id").asString();
      double weight = a.path("weight").asDouble(1);
      Map<Instant, Double> became = new LinkedHashMap<>();
      String path = "/v1/accounts/" + ServiceAddress.encode(id) + "/changes";
      for (JsonNode c : service.list(console, path, MOST_JOBS).items()) {
        Instant at = time(c, "at");
        boolean ofWeight = c.path("was").isNumber() || c.path("became").isNumber();
        if (!ofWeight || at.isBefore(zero)) {
          continue;
        }
        // Newest first: of two at one moment the last counts. One that was taken out weighs
        // nothing,
        // and one that was not there yet had no work.
        became.putIfAbsent(at, c.path("became").asDouble(0));
        weight = c.path("was").asDouble(c.path("became").asDouble(0));
      }
      setups.add(new AccountSetup(id, text(a, "parent"), weight));
      became.forEach((at, to) -> changes.add(new AccountPlan.Change(micros(zero, at), id, to)));
    }
    return new AccountPlan(setups, Map.of(), Map.of(), changes, true);
  }
}
