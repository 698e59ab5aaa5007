package evenhand.reference;

import evenhand.facts.Account;
import evenhand.facts.Claim;
import evenhand.facts.Job;
import evenhand.facts.Placement;
import evenhand.facts.Reservation;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/** Makes a snapshot that fails small, and puts it in a form a person can read and decide again. */
final class FailingSnapshot {
  private FailingSnapshot() {}

  /**
   * Drops jobs (with what they hold), reservations, placements, running jobs, claims, accounts and
   * tiers one at a time for as long as it still fails, so that nothing is left that could be
   * dropped. Dropping keeps the snapshot one that can be: a reservation whose placement went is on
   * a vanished node (R5), GPUs whose running job went are held by a job nobody follows.
   */
  static Snapshot shrunk(Snapshot failing, Predicate<Snapshot> stillFails) {
    Snapshot least = failing;
    int size;
    do {
      size = size(least);
      least = dropJobs(least, stillFails);
      least = drop(least, Snapshot::reservations, FailingSnapshot::withReservations, stillFails);
      least = drop(least, Snapshot::placements, FailingSnapshot::withPlacements, stillFails);
      least = drop(least, Snapshot::running, FailingSnapshot::withRunning, stillFails);
      least = drop(least, Snapshot::claims, FailingSnapshot::withClaims, stillFails);
      least = dropUnused(least, stillFails);
    } while (size(least) < size);
    return least;
  }

  /** One line a thing, the queue in its order; {@code decide --snapshot} reads it. */
  static String text(Snapshot snapshot) {
    List<String> tiers = new ArrayList<>();
    for (Tier tier : snapshot.tiers()) {
      tiers.add(
          object(
              "name", tier.name(),
              "sort_order", tier.sortOrder(),
              "tflops", tier.tflops(),
              "max_gpus", tier.maxGpus(),
              "auto_assign", tier.autoAssign(),
              "partition", tier.partition(),
              "gres", tier.gres()));
    }
    List<String> placements = new ArrayList<>();
    for (Placement placement : snapshot.placements()) {
      placements.add(
          object(
              "node", placement.node(),
              "tier", placement.tier().name(),
              "capacity", placement.capacity(),
              "idle", placement.idle(),
              "state", placement.state().word(),
              "work_stays", snapshot.workStays().contains(placement.node())));
    }
    List<String> accounts = new ArrayList<>();
    for (Account account : snapshot.accounts()) {
      accounts.add(
          object(
              "id", account.id(),
              "parent", account.parent(),
              "weight", account.weight(),
              "cumulative_usage", account.cumulativeUsage(),
              "window_usage", account.windowUsage()));
    }
    List<String> jobs = new ArrayList<>();
    for (Job job : PlainReading.queue(snapshot)) {
      jobs.add(
          object(
              "id", job.id(),
              "account", job.account(),
              "user", job.user(),
              "nodes", job.nodes(),
              "num_gpus", job.numGpus(),
              "tier", job.tier(),
              "minimum_tier_sort_order", job.minimumTierSortOrder(),
              "priority", job.priority(),
              "queued_at", job.queuedAt(),
              "min_runtime_s", job.minRuntimeSeconds(),
              "resumable", job.resumable(),
              "attempt", job.attempt()));
    }
    List<String> reservations = new ArrayList<>();
    for (Reservation reservation : snapshot.reservations()) {
      reservations.add(
          object(
              "job", reservation.job(),
              "node", reservation.node(),
              "tier", reservation.tier().name(),
              "gpus", reservation.gpus(),
              "since", reservation.since(),
              "accrued_tflop_s", reservation.accruedTflopSeconds(),
              "accrued_at", reservation.accruedAt()));
    }
    List<String> claims = new ArrayList<>();
    for (Claim claim : snapshot.claims()) {
      claims.add(
          String.format(
              Locale.ROOT,
              "{\"job\":\"%s\",\"on\":[%s],\"since\":\"%s\",\"ready_at\":\"%s\",\"yields\":[%s]}",
              claim.job(),
              shares(claim.on()),
              claim.since(),
              claim.readyAt(),
              claim.yields().isEmpty() ? "" : "\"" + String.join("\",\"", claim.yields()) + "\""));
    }
    List<String> running = new ArrayList<>();
    for (Running run : snapshot.running()) {
      running.add(
          String.format(
              Locale.ROOT,
              "{\"job\":\"%s\",\"account\":\"%s\",\"on\":[%s],\"started_at\":\"%s\","
                  + "\"protected_until\":\"%s\",\"allocated\":%s,\"resumable\":%s,"
                  + "\"min_runtime_s\":%d,\"checkpoint_at\":%s,\"leaving\":%s}",
              run.job(),
              run.account(),
              shares(run.on()),
              run.startedAt(),
              run.protectedUntil(),
              run.allocated(),
              run.resumable(),
              run.minRuntimeSeconds(),
              run.checkpointAt() == null ? "null" : "\"" + run.checkpointAt() + "\"",
              run.leaving()));
    }
    return String.format(
        Locale.ROOT,
        "{\"policy\":\"%s\",\"now\":\"%s\",\"cluster\":\"%s\",\n%s,\n%s,\n%s,\n%s,\n%s,\n%s,\n%s}\n",
        snapshot.policy(),
        snapshot.now(),
        snapshot.cluster(),
        list("tiers", tiers),
        list("placements", placements),
        list("accounts", accounts),
        list("jobs", jobs),
        list("reservations", reservations),
        list("running", running),
        list("claims", claims));
  }

  private static String shares(List<Share> on) {
    List<String> shares = new ArrayList<>();
    for (Share share : on) {
      shares.add(object("node", share.node(), "tier", share.tier().name(), "gpus", share.gpus()));
    }
    return String.join(",", shares);
  }

  private static String list(String name, List<String> lines) {
    return "\""
        + name
        + "\":["
        + (lines.isEmpty() ? "" : "\n  ")
        + String.join(",\n  ", lines)
        + "]";
  }

  /** Names and values in turn; the names and ids made up here need no escaping. */
  private static String object(Object... namesAndValues) {
    List<String> fields = new ArrayList<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      Object value = namesAndValues[i + 1];
      boolean bare = value == null || value instanceof Number || value instanceof Boolean;
      fields.add("\"" + namesAndValues[i] + "\":" + (bare ? value : "\"" + value + "\""));
    }
    return "{" + String.join(",", fields) + "}";
  }

  private interface Rebuild<T> {
    Snapshot with(Snapshot snapshot, List<T> kept);
  }

  private static <T> Snapshot drop(
      Snapshot from,
      Function<Snapshot, List<T>> part,
      Rebuild<T> rebuild,
      Predicate<Snapshot> stillFails) {
    Snapshot least = from;
    for (T item : part.apply(from)) {
      List<T> kept = new ArrayList<>(part.apply(least));
      kept.remove(item);
      Snapshot smaller = rebuild.with(least, kept);
      if (stillFails.test(smaller)) {
        least = smaller;
      }
    }
    return least;
  }

  private static Snapshot dropJobs(Snapshot from, Predicate<Snapshot> stillFails) {
    return drop(
        from,
        Snapshot::jobs,
        (snapshot, kept) -> {
          Set<String> ids = new HashSet<>();
          kept.forEach(job -> ids.add(job.id()));
          List<Reservation> theirs = new ArrayList<>(snapshot.reservations());
          theirs.removeIf(reservation -> !ids.contains(reservation.job()));
          return new Snapshot(
              snapshot.policy(),
              snapshot.now(),
              snapshot.cluster(),
              snapshot.tiers(),
              snapshot.placements(),
              snapshot.accounts(),
              kept,
              theirs,
              snapshot.running(),
              snapshot.claims(),
              snapshot.workStays());
        },
        stillFails);
  }

  /** Accounts and tiers that nothing left speaks of. */
  private static Snapshot dropUnused(Snapshot from, Predicate<Snapshot> stillFails) {
    Set<String> accounts = new HashSet<>();
    Set<String> tiers = new HashSet<>();
    from.jobs().forEach(job -> accounts.add(job.account()));
    from.jobs().forEach(job -> tiers.add(job.tier()));
    from.placements().forEach(placement -> tiers.add(placement.tier().name()));
    from.reservations().forEach(reservation -> tiers.add(reservation.tier().name()));
    from.claims().forEach(c -> c.on().forEach(share -> tiers.add(share.tier().name())));
    for (Running run : from.running()) {
      accounts.add(run.account());
      run.on().forEach(share -> tiers.add(share.tier().name()));
    }
    List<Account> keptAccounts = new ArrayList<>(from.accounts());
    for (int i = 0; i < from.accounts().size(); i++) { // parents of parents
      for (Account account : from.accounts()) {
        if (accounts.contains(account.id()) && account.parent() != null) {
          accounts.add(account.parent());
        }
      }
    }
    keptAccounts.removeIf(account -> !accounts.contains(account.id()));
    List<Tier> keptTiers = new ArrayList<>(from.tiers());
    keptTiers.removeIf(tier -> !tiers.contains(tier.name()));
    Snapshot smaller =
        new Snapshot(
            from.policy(),
            from.now(),
            from.cluster(),
            keptTiers,
            from.placements(),
            keptAccounts,
            from.jobs(),
            from.reservations(),
            from.running(),
            from.claims(),
            from.workStays());
    return stillFails.test(smaller) ? smaller : from;
  }

  private static Snapshot withReservations(Snapshot from, List<Reservation> kept) {
    return new Snapshot(
        from.policy(),
        from.now(),
        from.cluster(),
        from.tiers(),
        from.placements(),
        from.accounts(),
        from.jobs(),
        kept,
        from.running(),
        from.claims(),
        from.workStays());
  }

  private static Snapshot withPlacements(Snapshot from, List<Placement> kept) {
    Set<String> keys = new HashSet<>();
    kept.forEach(placement -> keys.add(placement.node() + "/" + placement.tier().name()));
    List<Running> running = new ArrayList<>(from.running());
    running.removeIf(
        run ->
            run.on().stream()
                .anyMatch(share -> !keys.contains(share.node() + "/" + share.tier().name())));
    return new Snapshot(
        from.policy(),
        from.now(),
        from.cluster(),
        from.tiers(),
        kept,
        from.accounts(),
        from.jobs(),
        from.reservations(),
        running,
        from.claims(),
        from.workStays());
  }

  private static Snapshot withRunning(Snapshot from, List<Running> kept) {
    return new Snapshot(
        from.policy(),
        from.now(),
        from.cluster(),
        from.tiers(),
        from.placements(),
        from.accounts(),
        from.jobs(),
        from.reservations(),
        kept,
        from.claims(),
        from.workStays());
  }

  private static Snapshot withClaims(Snapshot from, List<Claim> kept) {
    return new Snapshot(
        from.policy(),
        from.now(),
        from.cluster(),
        from.tiers(),
        from.placements(),
        from.accounts(),
        from.jobs(),
        from.reservations(),
        from.running(),
        kept,
        from.workStays());
  }

  private static int size(Snapshot snapshot) {
    return snapshot.tiers().size()
        + snapshot.placements().size()
        + snapshot.accounts().size()
        + snapshot.jobs().size()
        + snapshot.reservations().size()
        + snapshot.running().size()
        + snapshot.claims().size();
  }
}
