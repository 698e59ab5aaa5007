package evenhand.cli;

import evenhand.cycle.AccountSetup;
import evenhand.facts.Tier;
import evenhand.simulator.AccountPlan;
import evenhand.simulator.ClusterPlan;
import evenhand.simulator.JobSet;
import evenhand.simulator.RecordedHistory;
import evenhand.simulator.Trace;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;

/**
 * What a service has seen, as a job set: its jobs, its accounts with the weights as they were, and
 * its GPUs as they are now; see {@link RecordedHistory}. When nodes were down is not kept by the
 * service, so none is here.
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
            .map(RecordedHistory::zero)
            .orElseThrow(
                () ->
                    new Failed(
                        Exit.WRONG_USE,
                        "The service has had no job yet, so there is no history to simulate."));
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

  private static Trace trace(List<JsonNode> newestFirst, Instant zero) {
    List<RecordedHistory.Seen> oldestFirst = new ArrayList<>();
    for (int i = newestFirst.size() - 1; i >= 0; i--) {
      JsonNode job = newestFirst.get(i);
      oldestFirst.add(
          new RecordedHistory.Seen(
              job.path("id").asString(),
              time(job, "submitted_at"),
              time(job, "started_at"),
              time(job, "ended_at"),
              text(job, "account"),
              text(job, "user"),
              job.path("nodes").asInt(1),
              job.path("num_gpus").asInt(1),
              text(job, "tier"),
              job.path("min_runtime_s").asLong(0),
              job.path("resumable").asBoolean(false),
              job.path("priority").asInt(0),
              job.path("preemptible").asBoolean(true)));
    }
    return RecordedHistory.trace(oldestFirst, zero);
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
      became.forEach(
          (at, to) ->
              changes.add(new AccountPlan.Change(RecordedHistory.micros(zero, at), id, to)));
    }
    return new AccountPlan(setups, Map.of(), Map.of(), changes, true);
  }
}
