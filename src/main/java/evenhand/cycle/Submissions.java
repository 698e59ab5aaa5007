package evenhand.cycle;

import evenhand.cycle.Desk.Receipt;
import evenhand.cycle.Desk.Refused;
import evenhand.cycle.Desk.Terms;
import evenhand.cycle.accounts.AccountBook;
import evenhand.cycle.accounts.AccountDesk;
import evenhand.facts.Request;
import evenhand.facts.Tier;
import evenhand.outcomes.Admission;
import evenhand.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What comes in: looked at, judged by the policy (N1 to N6), put in the queue, told its terms. */
final class Submissions {
  private static final Logger LOG = LoggerFactory.getLogger("evenhand.api");
  private static final int LONGEST_KEY = 255;

  private final Store store;
  private final Supplier<Policy> policy;
  private final Supplier<Cycle.Latest> latest;
  private final Function<NewJob, Optional<Objection>> objections;
  private final RuleAlarm alarm;
  private final WorldNow stands;
  private final CycleSettings settings;
  private final Clock clock;
  private final AtomicReference<QueueSeen> queueSeen = new AtomicReference<>();

  /**
   * @param objections what the cluster would not take of a submission
   * @param alarm told when a rule of admission fails
   */
  Submissions(
      Store store,
      Supplier<Policy> policy,
      Supplier<Cycle.Latest> latest,
      Function<NewJob, Optional<Objection>> objections,
      RuleAlarm alarm,
      WorldNow stands,
      CycleSettings settings,
      Clock clock) {
    this.store = store;
    this.policy = policy;
    this.latest = latest;
    this.objections = objections;
    this.alarm = alarm;
    this.stands = stands;
    this.settings = settings;
    this.clock = clock;
  }

  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MICROS);
  }

  /** See {@link Desk#receive}. */
  Receipt receive(NewJob submitted, String idempotencyKey) {
    NewJob job = charged(submitted);
    Store.Key key = null;
    if (idempotencyKey != null) {
      if (idempotencyKey.isBlank() || idempotencyKey.length() > LONGEST_KEY) {
        throw invalid(
            "Idempotency-Key", "an idempotency key has 1 to " + LONGEST_KEY + " characters");
      }
      key = new Store.Key(job.account(), idempotencyKey, digest(job));
      Optional<Store.Added> before = store.added(key);
      if (before.isPresent()) {
        return same(before.get(), idempotencyKey);
      }
    }
    World world = store.inventory();
    if (world.stock().isEmpty() && latest.get().reading() == null) {
      throw new Refused(
          "NOT_READY",
          null,
          null,
          "the cluster has not been read yet, so nothing is known to fit; try again in a moment");
    }
    List<String> accounts = world.accounts().stream().map(a -> a.id()).toList();
    if (!accounts.contains(job.account())) {
      notRetired(job.account());
    }
    known("account", job.account(), accounts);
    List<String> tiers = world.tiers().stream().map(Tier::name).toList();
    if (job.tier() != null) {
      known("tier", job.tier(), tiers);
    }
    int minimum = 0;
    if (job.minimumTier() != null) {
      known("minimum_tier", job.minimumTier(), tiers);
      minimum =
          world.tiers().stream()
              .filter(t -> t.name().equals(job.minimumTier()))
              .findFirst()
              .orElseThrow()
              .sortOrder();
      noContradiction(job, minimum, world.tiers());
    }
    noNul(job);
    objections
        .apply(job)
        .ifPresent(
            objection -> {
              throw invalid(objection.field(), objection.message());
            });
    Request request =
        new Request(
            job.nodes(),
            job.numGpus(),
            job.tier(),
            minimum,
            null,
            job.account(),
            job.user(),
            job.role(),
            job.priority(),
            job.minRuntimeSeconds(),
            job.resumable(),
            1,
            null,
            job.preemptible());
    Admission admission =
        alarm.heard(
            policy.get(),
            deciding ->
                deciding.admit(
                    request, world.accounts(), world.tiers(), Following.inventory(world)));
    if (!admission.accepted()) {
      throw new Refused(
          admission.refusal().code(),
          admission.refusal().field(),
          admission.rule(),
          admission.refusal().message());
    }
    positive("num_gpus", job.numGpus());
    positive("nodes", job.nodes());
    if (job.minRuntimeSeconds() < 0) {
      throw invalid("min_runtime_s", "min_runtime_s is 0 or more seconds");
    }
    if (job.timeLimitSeconds() != null && job.timeLimitSeconds() < 1) {
      throw invalid("time_limit_s", "time_limit_s is 1 or more seconds, or left out");
    }
    if (job.timeLimitSeconds() != null && job.timeLimitSeconds() < job.minRuntimeSeconds()) {
      throw invalid(
          "time_limit_s",
          "time_limit_s is "
              + job.timeLimitSeconds()
              + ", less than min_runtime_s, "
              + job.minRuntimeSeconds()
              + ": Slurm would end it before its protected run time is over; raise the one or lower"
              + " the other");
    }
    return same(store.add(job, minimum, Remarks.text(admission), key, now()), idempotencyKey);
  }

  /** A named tier below the least that is accepted: no GPU is both. */
  private static void noContradiction(NewJob job, int minimum, List<Tier> tiers) {
    for (Tier tier : tiers) {
      if (tier.name().equals(job.tier()) && tier.sortOrder() < minimum) {
        throw invalid(
            "minimum_tier",
            "tier "
                + job.tier()
                + " is below minimum_tier "
                + job.minimumTier()
                + " (sort_order "
                + tier.sortOrder()
                + " < "
                + minimum
                + "), so no GPU could ever be both; leave one of the two out");
      }
    }
  }

  /** Null for a job that no longer waits, and when they can't be told just now: it is there. */
  private Terms terms(StoredJob job, boolean isNew) {
    if (job.state() != JobState.GLOBAL_QUEUE_WAIT) {
      return null;
    }
    try {
      Policy deciding = policy.get();
      QueueSeen queue = queueSeen(deciding);
      return SubmissionTerms.of(
          job.asks(),
          isNew ? job.stateReason() : new Remarks(deciding, store::inventory).on(job),
          queue.place(job.asks()),
          queue.world(),
          queue.tree(),
          deciding,
          settings.window(deciding).orElse(null));
    } catch (RuntimeException e) {
      LOG.warn("Job {} is queued, but its terms cannot be told: {}", job.id(), e.getMessage());
      return null;
    }
  }

  private QueueSeen queueSeen(Policy deciding) {
    QueueSeen seen = queueSeen.get();
    if (seen == null || !seen.holds(deciding, now())) {
      World world = stands.world();
      seen = new QueueSeen(world, stands.snapshot(world), deciding, now());
      queueSeen.set(seen);
    }
    return seen;
  }

  /** The job with the account that its user is attached to, where it names none. */
  private NewJob charged(NewJob job) {
    if (job.account() != null) {
      return job;
    }
    String account = AccountDesk.accountOf(store.accounts(), job.user());
    if (account == null) {
      throw invalid(
          "account",
          "account is missing, and "
              + job.user()
              + " is attached to none; name the account to be charged");
    }
    return job.of(account);
  }

  private void notRetired(String account) {
    for (AccountBook.Entry e : store.accounts().entries()) {
      if (e.id().equals(account) && e.retired()) {
        throw invalid(
            "account",
            "account "
                + account
                + " is retired since "
                + Words.second(e.retiredAt())
                + "; name another");
      }
    }
  }

  private Receipt same(Store.Added added, String key) {
    if (!added.sameBody()) {
      throw new Refused(
          "IDEMPOTENCY_CONFLICT",
          "Idempotency-Key",
          null,
          "the key "
              + key
              + " was used before for another submission, which made job "
              + added.record().job().id()
              + "; use a new key for a new job");
    }
    return new Receipt(
        FrontDesk.view(added.record(), added.record().job().stateReason()),
        added.isNew(),
        terms(added.record().job(), added.isNew()));
  }

  static Refused invalid(String field, String message) {
    return new Refused("INVALID_REQUEST", field, null, message);
  }

  private static void positive(String field, int value) {
    if (value < 1) {
      throw invalid(field, field + " is " + value + "; it must be at least 1");
    }
  }

  private static void known(String field, String name, List<String> names) {
    if (!names.contains(name)) {
      String some =
          names.isEmpty()
              ? "none is set up"
              : "known are "
                  + names.stream().limit(20).collect(Collectors.joining(", "))
                  + (names.size() > 20 ? " and " + (names.size() - 20) + " more" : "");
      throw invalid(field, "there is no " + field + " \"" + name + "\"; " + some);
    }
  }

  /** Characters that would put a table, a log or a terminal out of order: controls, direction. */
  private static boolean unseen(int character) {
    int type = Character.getType(character);
    return type == Character.CONTROL
        || type == Character.FORMAT
        || type == Character.LINE_SEPARATOR
        || type == Character.PARAGRAPH_SEPARATOR
        || type == Character.SURROGATE
        || type == Character.UNASSIGNED;
  }

  /** PostgreSQL's texts hold every character but this one. */
  private static void noNul(NewJob job) {
    Map<String, String> texts = new LinkedHashMap<>();
    texts.put("name", job.name());
    texts.put("user", job.user());
    texts.put("script", job.script());
    texts.put("workdir", job.workdir());
    texts.put("args", String.join("", job.arguments()));
    texts.put(
        "env",
        String.join("", job.environment().keySet()) + String.join("", job.environment().values()));
    texts.forEach(
        (field, text) -> {
          if (text != null && text.indexOf('\0') >= 0) {
            throw invalid(field, field + " holds a NUL character");
          }
        });
    for (String field : List.of("name", "user", "workdir")) {
      if (texts.get(field) != null && texts.get(field).codePoints().anyMatch(Submissions::unseen)) {
        throw invalid(field, field + " holds a character that cannot be seen; use plain text");
      }
    }
  }

  /** Names everything that was submitted; the order of the environment does not count. */
  private static String digest(NewJob job) {
    List<Object> parts =
        new ArrayList<>(
            Arrays.asList(
                job.name(),
                job.account(),
                job.user(),
                job.nodes(),
                job.numGpus(),
                job.tier(),
                job.minimumTier(),
                job.minRuntimeSeconds(),
                job.resumable(),
                job.priority(),
                job.timeLimitSeconds(),
                job.script(),
                job.workdir(),
                job.arguments().size()));
    parts.addAll(job.arguments());
    if (!job.preemptible()) {
      parts.add("not preemptible"); // so that digests from before it could be said still hold
    }
    new TreeMap<>(job.environment())
        .forEach(
            (name, value) -> {
              parts.add(name);
              parts.add(value);
            });
    try {
      MessageDigest sha = MessageDigest.getInstance("SHA-256");
      for (Object part : parts) {
        String text = part == null ? "-" : part.toString().length() + ":" + part;
        sha.update(text.getBytes(StandardCharsets.UTF_8));
      }
      return HexFormat.of().formatHex(sha.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
