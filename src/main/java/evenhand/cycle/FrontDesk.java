package evenhand.cycle;

import evenhand.cycle.accounts.AccountBook;
import evenhand.cycle.accounts.AccountDesk;
import evenhand.facts.Claim;
import evenhand.facts.Ended;
import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.PlacementGroup;
import evenhand.facts.Request;
import evenhand.facts.Reservation;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.outcomes.Absorb;
import evenhand.outcomes.Admission;
import evenhand.outcomes.Claimed;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.Reserve;
import evenhand.outcomes.Wait;
import evenhand.policy.Ordering;
import evenhand.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The desk over the store, the policy, and what the last cycles found. */
public final class FrontDesk implements Desk {
  private static final Logger LOG = LoggerFactory.getLogger("evenhand.api");
  private static final int MOST_A_PAGE = 1000;
  private static final int MOST_AHEAD = 10;
  private static final int CANCEL_TRIES = 10;
  private static final int LONGEST_KEY = 255;
  private static final String WAITS_FOR_VICTIMS = "WAITING_FOR_VICTIMS";
  private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,18}");

  private final Store store;
  private final Supplier<Policy> policy;
  private final Supplier<Cycle.Latest> latest;
  private final Function<String, Optional<Decision>> decisions;
  private final Function<NewJob, Optional<Objection>> objections;
  private final CycleSettings settings;
  private final Clock clock;
  private final AtomicReference<QueueSeen> queueSeen = new AtomicReference<>();

  /**
   * @param latest what the cycle of this process found last: {@code cycle::latest}
   */
  public FrontDesk(
      Store store,
      Supplier<Policy> policy,
      Supplier<Cycle.Latest> latest,
      CycleSettings settings,
      Clock clock) {
    this(store, policy, latest, json -> Optional.empty(), job -> Optional.empty(), settings, clock);
  }

  /**
   * @param latest what the cycle of this process found last: {@code cycle::latest}
   * @param decisions reads a recorded decision, for what another process decided
   * @param objections what the cluster would not take of a submission
   */
  public FrontDesk(
      Store store,
      Supplier<Policy> policy,
      Supplier<Cycle.Latest> latest,
      Function<String, Optional<Decision>> decisions,
      Function<NewJob, Optional<Objection>> objections,
      CycleSettings settings,
      Clock clock) {
    this.store = store;
    this.policy = policy;
    this.latest = latest;
    this.decisions = decisions;
    this.objections = objections;
    this.settings = settings;
    this.clock = clock;
  }

  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MICROS);
  }

  @Override
  public JobView submit(NewJob job, String idempotencyKey) {
    return receive(job, idempotencyKey).job();
  }

  @Override
  public Receipt receive(NewJob submitted, String idempotencyKey) {
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
        policy.get().admit(request, world.accounts(), world.tiers(), Following.inventory(world));
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
      World world = world();
      seen = new QueueSeen(world, snapshot(world), deciding, now());
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
            "account " + account + " is retired since " + second(e.retiredAt()) + "; name another");
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
        view(added.record(), added.record().job().stateReason()),
        added.isNew(),
        terms(added.record().job(), added.isNew()));
  }

  private static Refused invalid(String field, String message) {
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

  /** PostgreSQL's texts hold every character but this one. */
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
      if (texts.get(field) != null && texts.get(field).codePoints().anyMatch(FrontDesk::unseen)) {
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

  static Refused notFound(String what, String id) {
    return new Refused("NOT_FOUND", "id", null, "there is no " + what + " " + id);
  }

  /** An id as the store counts, and as it writes it: 01 and +1 name nothing. */
  static long number(String what, String id) {
    try {
      if (NUMBER.matcher(id).matches()) {
        return Long.parseLong(id);
      }
    } catch (NumberFormatException e) {
      // larger than any there is
    }
    throw notFound(what, id);
  }

  private Store.JobRecord record(String id) {
    return store.job(number("job", id)).orElseThrow(() -> notFound("job", id));
  }

  @Override
  public JobView job(String id) {
    return view(record(id));
  }

  @Override
  public Page<JobView> jobs(String state, String account, int limit, String cursor) {
    if (account != null && account.indexOf('\0') >= 0) {
      throw invalid("account", "there is no account of that name");
    }
    JobState wanted = null;
    if (state != null) {
      wanted =
          Arrays.stream(JobState.values())
              .filter(s -> s.name().equalsIgnoreCase(state))
              .findFirst()
              .orElseThrow(
                  () ->
                      invalid(
                          "state",
                          "there is no state \""
                              + state
                              + "\"; known are "
                              + Arrays.stream(JobState.values())
                                  .map(JobState::name)
                                  .collect(Collectors.joining(", "))));
    }
    int most = page(limit);
    List<Store.JobRecord> found = store.jobs(wanted, account, most + 1, before(cursor));
    Remarks remarks = remarks();
    return part(
        found.stream().map(r -> view(r, remarks.on(r.job()))).toList(), most, view -> view.id());
  }

  private static int page(int limit) {
    if (limit < 1) {
      throw invalid("limit", "limit is at least 1");
    }
    return Math.min(limit, MOST_A_PAGE);
  }

  /**
   * The id before which a part of a list begins, newest first; the largest there is at its start.
   */
  public static long before(String cursor) {
    if (cursor == null || cursor.isBlank()) {
      return Long.MAX_VALUE;
    }
    try {
      if (NUMBER.matcher(cursor).matches()) {
        return Long.parseLong(cursor);
      }
    } catch (NumberFormatException e) {
      // larger than any there is
    }
    throw invalid("cursor", "\"" + cursor + "\" is no cursor that this service gave");
  }

  /** One more than asked for was read, to know whether there is a part after this one. */
  public static <T> Page<T> part(List<T> read, int limit, Function<T, String> cursor) {
    if (read.size() <= limit) {
      return new Page<>(read, null);
    }
    List<T> items = read.subList(0, limit);
    return new Page<>(items, cursor.apply(items.get(limit - 1)));
  }

  private Remarks remarks() {
    return new Remarks(policy.get(), store::inventory);
  }

  private JobView view(Store.JobRecord record) {
    return view(record, remarks().on(record.job()));
  }

  private static JobView view(Store.JobRecord record, String reason) {
    StoredJob job = record.job();
    Job asks = job.asks();
    Attempt attempt = record.attempt();
    boolean queued = job.state() == JobState.GLOBAL_QUEUE_WAIT;
    boolean open = attempt != null && attempt.endedAt() == null;
    return new JobView(
        asks.id(),
        job.name(),
        asks.account(),
        asks.user(),
        job.state(),
        reason,
        asks.nodes(),
        asks.numGpus(),
        asks.tier(),
        asks.minimumTierSortOrder(),
        asks.priority(),
        asks.minRuntimeSeconds(),
        asks.resumable(),
        asks.preemptible(),
        job.timeLimitSeconds(),
        asks.attempt(),
        job.submittedAt(),
        asks.queuedAt(),
        job.startedAt(),
        job.endedAt(),
        job.exitCode(),
        attempt == null || queued ? null : attempt.clusterJob(),
        view(job.reservation()),
        attempt == null || queued ? List.of() : attempt.on(),
        job.carriedTflopSeconds(),
        record.chargedTflopSeconds(),
        open ? attempt.preemptFor() : null,
        open ? attempt.endBy() : null,
        open ? attempt.waitsFor().stream().map(v -> Long.toString(v.job())).toList() : List.of(),
        open ? attempt.waitsUntil() : null,
        attempt == null || queued ? null : attempt.checkpointAt());
  }

  private static ReservationView view(Reservation held) {
    return held == null ? null : new ReservationView(held.node(), held.tier().name(), held.gpus());
  }

  @Override
  public JobView cancel(String id, String by) {
    for (int i = 0; i < CANCEL_TRIES; i++) {
      Store.JobRecord record = record(id);
      StoredJob job = record.job();
      if (job.state().ended() || beingCancelled(record)) {
        return view(record);
      }
      Changes changes = Changes.ofDesk(now());
      if (job.state() == JobState.GLOBAL_QUEUE_WAIT) {
        changes.put(ended(changes, job, by));
      } else {
        end(changes, record, by);
      }
      try {
        store.commit(changes);
        return job(id);
      } catch (Overtaken e) {
        // A cycle took it in hand at the same moment: look again where it stands now.
      }
    }
    throw new Refused("BUSY", null, null, "job " + id + " changes again and again; try once more");
  }

  /** An order that was given up after many tries is written anew when it is asked for again. */
  private boolean beingCancelled(Store.JobRecord record) {
    Attempt attempt = record.attempt();
    return attempt != null
        && attempt.endedAt() == null
        && attempt.cancelBy() != null
        && store
            .open(
                Order.Kind.CANCEL,
                new Token(store.installation(), attempt.job(), attempt.attempt()))
            .isPresent();
  }

  private StoredJob ended(Changes changes, StoredJob job, String by) {
    Ended end = job.endedUnrun(JobState.CANCELLED.name());
    StoredJob settled =
        changes.settle(job, job.asks().attempt(), policy.get().settle(end, changes.at()));
    return settled.over(JobState.CANCELLED, "cancelled by " + by, changes.at(), null);
  }

  /** At once when it certainly never reached the cluster, else when the cluster has ended it. */
  private void end(Changes changes, Store.JobRecord record, String by) {
    StoredJob job = record.job();
    Attempt attempt = record.attempt();
    Token token = new Token(store.installation(), job.id(), attempt.attempt());
    Optional<Order> submission = store.open(Order.Kind.SUBMIT, token);
    if (attempt.clusterJob() == null && submission.isPresent() && !submission.get().inDoubt()) {
      changes.put(submission.get().closed(changes.at(), "cancelled by " + by));
      StoredJob over = ended(changes, job, by);
      changes.put(over, attempt.over(JobState.CANCELLED, null, changes.at()));
      changes.finish(token, null, "cancelled by " + by);
      return;
    }
    changes.put(job.to(job.state(), "being cancelled by " + by), attempt.toCancel(by));
    Optional<Order> open = store.open(Order.Kind.CANCEL, token);
    if (open.isEmpty()) {
      changes.write(Order.cancel(token, changes.at()));
    } else if (open.get().tries() == 0) {
      // It was in its grace time, which nobody needs any more.
      changes.put(open.get().later(changes.at(), false, "cancelled by " + by));
    }
  }

  /** What stands now: the store's rows with the last reading. */
  private Snapshot snapshot(World world) {
    return survey(world).snapshot(world, policy.get(), settings, now());
  }

  private Survey survey(World world) {
    return new Survey(latest.get().reading(), world.tiers(), store.installation(), world.drains());
  }

  private World world() {
    return store.load(settings.window(policy.get()).map(now()::minus).orElse(null));
  }

  @Override
  public Page<QueueLine> queue(int limit, String cursor) {
    int most = page(limit);
    int from = cursor == null || cursor.isBlank() ? 0 : (int) Math.min(before(cursor), 1 << 30);
    World world = world();
    Snapshot snapshot = snapshot(world);
    Ordering ordering = policy.get().ordering(snapshot);
    List<Job> order = ordering.jobs();
    int to = Math.min(order.size(), Math.max(from, 0) + most);
    List<QueueLine> lines = new ArrayList<>();
    if (from <= 0) {
      lines.addAll(waitingStarts(world));
    }
    lines.addAll(lines(ordering, Math.max(from, 0), to, world));
    return new Page<>(lines, to < order.size() ? Integer.toString(to) : null);
  }

  /** Jobs that were given GPUs which others have still to leave, the longest waiting first. */
  private List<QueueLine> waitingStarts(World world) {
    Map<Long, StoredJob> jobs = new HashMap<>();
    world.jobs().forEach(j -> jobs.put(j.id(), j));
    return world.attempts().stream()
        .filter(a -> a.waitsUntil() != null && jobs.containsKey(a.job()))
        .sorted(java.util.Comparator.comparing(Attempt::decidedAt).thenComparingLong(Attempt::job))
        .map(
            a -> {
              StoredJob job = jobs.get(a.job());
              Job asks = job.asks();
              return new QueueLine(
                  0,
                  asks.id(),
                  job.name(),
                  asks.account(),
                  asks.user(),
                  asks.nodes(),
                  asks.numGpus(),
                  asks.tier(),
                  asks.queuedAt(),
                  Map.of(),
                  List.of(),
                  null,
                  WAITS_FOR_VICTIMS,
                  waitsFor(a));
            })
        .toList();
  }

  private static String waitsFor(Attempt attempt) {
    return "it was given "
        + gpus(attempt.on())
        + " at "
        + second(attempt.decidedAt())
        + "; "
        + Effects.waits(attempt.waitsFor(), second(attempt.waitsUntil()))
        + " and it is back in the queue";
  }

  /**
   * The last verdict on a job.
   *
   * @param decision id under which it is recorded
   */
  private record Verdict(Decided decided, String decision, Instant at) {}

  /**
   * The last verdicts on these jobs, by job: from the last cycle where this process decides, else
   * from what the process that does has recorded.
   */
  private Map<String, Verdict> verdicts(List<String> jobs) {
    Cycle.Latest found = latest.get();
    Map<String, Verdict> verdicts = new HashMap<>();
    if (found.decision() != null && found.report().result() != CycleReport.Result.STANDBY) {
      for (String job : jobs) {
        Decided decided = found.verdicts().get(job);
        if (decided != null) {
          verdicts.put(job, new Verdict(decided, found.decisionId(), found.decision().now()));
        }
      }
      return verdicts;
    }
    Map<String, Map<String, Decided>> read = new HashMap<>();
    store
        .lastSaid(jobs.stream().map(Long::parseLong).toList())
        .forEach(
            (job, view) -> {
              Decided decided =
                  read.computeIfAbsent(
                          view.id(),
                          id -> decisions.apply(view.json()).map(Cycle::verdicts).orElse(Map.of()))
                      .get(Long.toString(job));
              if (decided != null) {
                verdicts.put(Long.toString(job), new Verdict(decided, view.id(), view.at()));
              }
            });
    return verdicts;
  }

  private List<QueueLine> lines(Ordering ordering, int from, int to, World world) {
    List<Job> order = ordering.jobs();
    Map<String, StoredJob> jobs = new HashMap<>();
    world.jobs().forEach(j -> jobs.put(j.asks().id(), j));
    Map<String, Verdict> verdicts =
        verdicts(order.subList(from, Math.max(from, to)).stream().map(Job::id).toList());
    List<QueueLine> lines = new ArrayList<>();
    for (int i = from; i < to; i++) {
      Job job = order.get(i);
      StoredJob stored = jobs.get(job.id());
      Verdict verdict = verdicts.get(job.id());
      Said said = said(stored, verdict, order);
      lines.add(
          new QueueLine(
              i + 1,
              job.id(),
              stored.name(),
              job.account(),
              job.user(),
              job.nodes(),
              job.numGpus(),
              job.tier(),
              job.queuedAt(),
              ordering.figures(job),
              ordering.path(job),
              view(stored.reservation()),
              said.code(),
              said.message()));
    }
    return lines;
  }

  private static String claims(Claimed claimed) {
    return "it claims "
        + gpus(claimed.on())
        + " and has all of them not later than "
        + second(claimed.readyAt());
  }

  /**
   * What is said of a job that waits.
   *
   * @param rule the clause that says so, or null
   * @param behind the job it waits for, or null
   */
  private record Said(String code, String rule, String message, String behind) {}

  /** The last verdict in words, as far as it is still true. */
  private static Said said(StoredJob job, Verdict verdict, List<Job> order) {
    Decided decided = verdict == null ? null : verdict.decided();
    if (decided != null && decided.outcome() instanceof Wait wait) {
      String since = changedSince(wait, job, order);
      return since == null
          ? new Said(wait.code(), decided.rule(), wait.message(), wait.behind())
          : new Said(
              wait.code(),
              decided.rule(),
              "at the last decision job "
                  + wait.behind()
                  + " was ahead of it; "
                  + since
                  + ", and the next cycle looks again",
              null);
    }
    if (decided != null && decided.outcome() instanceof Claimed claimed) {
      return new Said("GATHERING", decided.rule(), claims(claimed), null);
    }
    boolean gathers =
        decided != null
            && (decided.outcome() instanceof Reserve || decided.outcome() instanceof Absorb);
    if (job.reservation() != null || gathers) {
      return new Said(
          "GATHERING",
          decided == null ? null : decided.rule(),
          job.reservation() == null ? "it gathers GPUs" : gathering(job),
          null);
    }
    return new Said(
        "NOT_DECIDED", null, "it has not had a turn yet; the next cycle looks at it", null);
  }

  /** Why the job it waited behind is no reason any more; null when it still is one. */
  private static String changedSince(Wait wait, StoredJob job, List<Job> order) {
    if (wait.behind() == null) {
      return null;
    }
    List<String> ids = order.stream().map(Job::id).toList();
    int ahead = ids.indexOf(wait.behind());
    if (ahead < 0) {
      return "that one has left the queue since";
    }
    int own = ids.indexOf(job.asks().id());
    boolean still = ahead < own && (ahead == 0 || !wait.code().equals("NOT_FIRST"));
    return still ? null : "the order of the queue has changed since";
  }

  private static String gathering(StoredJob job) {
    Reservation held = job.reservation();
    return "it gathers GPUs on "
        + held.node()
        + " ("
        + held.tier().name()
        + ") and holds "
        + held.gpus()
        + " of the "
        + job.asks().numGpus()
        + " it needs";
  }

  @Override
  public List<PlacementView> placements() {
    World world = store.load(null);
    Snapshot snapshot = snapshot(world);
    Map<String, List<Reservation>> reserved = new HashMap<>();
    for (Reservation r : snapshot.reservations()) {
      reserved.computeIfAbsent(place(r.node(), r.tier()), p -> new ArrayList<>()).add(r);
    }
    Claim claim = world.claim();
    Map<String, List<String>> jobs = new HashMap<>();
    for (Attempt a : world.attempts()) {
      for (Share share : a.on()) {
        jobs.computeIfAbsent(place(share.node(), share.tier()), p -> new ArrayList<>())
            .add(Long.toString(a.job()));
      }
    }
    Map<String, String> reasons = new HashMap<>();
    world.stock().forEach(s -> reasons.put(place(s.node(), s.tier()), s.reason()));
    List<PlacementView> views = new ArrayList<>();
    for (Placement p : snapshot.placements()) {
      String place = place(p.node(), p.tier());
      List<Reservation> held = reserved.getOrDefault(place, List.of());
      int gpus = held.stream().mapToInt(Reservation::gpus).sum();
      int claimed = claim == null ? 0 : Math.min(claim.gpusOn(p.node(), p.tier()), p.idle() - gpus);
      String holder = held.isEmpty() ? null : held.get(0).job();
      if (claimed > 0) {
        gpus += claimed;
        holder = holder == null ? claim.job() : holder;
      }
      views.add(
          new PlacementView(
              p.node(),
              p.tier().name(),
              p.capacity(),
              p.state() == NodeState.UP ? Math.max(0, p.idle() - gpus) : 0,
              gpus,
              holder,
              p.state(),
              reasons.get(place),
              jobs.getOrDefault(place, List.of())));
    }
    Reading reading = latest.get().reading();
    if (reading != null) {
      Survey survey = survey(world);
      for (Reading.Seen seen : reading.placements()) {
        if (survey.tierOf(seen.model(), seen.partitions()).isEmpty()) {
          views.add(
              new PlacementView(
                  seen.node(),
                  seen.model() == null ? "gpu" : seen.model(),
                  seen.capacity(),
                  0,
                  0,
                  null,
                  seen.state(),
                  "no tier names this model: not used",
                  List.of()));
        }
      }
    }
    return views;
  }

  private static String place(String node, Tier tier) {
    return node + "\n" + tier.name();
  }

  @Override
  public Explanation why(String id) {
    Store.JobRecord record = record(id);
    return record.job().state() == JobState.GLOBAL_QUEUE_WAIT
        ? waiting(record.job())
        : told(record, sentence(record));
  }

  @Override
  public Comparison against(String id, String other) {
    if (id.equals(other)) {
      throw invalid("against", "name another job than " + id + " to compare it with");
    }
    Snapshot snapshot = snapshot(world());
    Ordering.Parting parting =
        policy.get().ordering(snapshot).parting(waiting(id, snapshot), waiting(other, snapshot));
    return new Comparison(
        parting.first().id(),
        parting.second().id(),
        parting.key(),
        parting.ofFirst(),
        parting.ofSecond(),
        parting.fork(),
        OrderWords.sentence(parting));
  }

  private Job waiting(String id, Snapshot snapshot) {
    for (Job job : snapshot.jobs()) {
      if (job.id().equals(id)) {
        return job;
      }
    }
    throw new Refused(
        "NOT_WAITING",
        null,
        null,
        "job "
            + id
            + " is "
            + record(id).job().state()
            + "; only jobs that wait in the queue come before or after one another");
  }

  private Explanation told(Store.JobRecord record, String message) {
    StoredJob job = record.job();
    boolean waits = waitsForVictims(record);
    // One that never ran was ended by somebody, not by what was decided about it before.
    DecisionView decided =
        record.attempt() == null
            ? null
            : store.decisions(job.id(), 1, Long.MAX_VALUE).stream().findFirst().orElse(null);
    return new Explanation(
        job.asks().id(),
        job.state(),
        waits ? WAITS_FOR_VICTIMS : job.state().name(),
        waits ? "K4" : null,
        waits ? policy.get().ruleName("K4") : null,
        message,
        null,
        null,
        null,
        null,
        List.of(),
        0,
        decided == null ? null : decided.id(),
        decided != null ? decided.at() : job.endedAt() != null ? job.endedAt() : job.startedAt());
  }

  private static boolean waitsForVictims(Store.JobRecord record) {
    Attempt attempt = record.attempt();
    return attempt != null && attempt.endedAt() == null && attempt.waitsUntil() != null;
  }

  private Explanation waiting(StoredJob job) {
    World world = world();
    Snapshot snapshot = snapshot(world);
    Policy deciding = policy.get();
    Ordering ordering = deciding.ordering(snapshot);
    List<Job> order = ordering.jobs();
    int position = 0;
    while (position < order.size() && !order.get(position).id().equals(job.asks().id())) {
      position++;
    }
    if (position == order.size()) {
      // It left the queue between two looks at it.
      Store.JobRecord now = record(job.asks().id());
      return told(now, sentence(now));
    }
    Cycle.Latest found = latest.get();
    Verdict last = verdicts(List.of(job.asks().id())).get(job.asks().id());
    Decided verdict = last == null ? null : last.decided();
    Said said = said(job, last, order);
    String rule = said.rule();
    StringBuilder message = new StringBuilder(sentence(said.message()));
    CycleReport report = found.report();
    if (report != null
        && report.result() != CycleReport.Result.DECIDED
        && report.result() != CycleReport.Result.STANDBY) {
      message.append(" The last cycle decided nothing: ").append(report.because()).append('.');
    }
    Request request = Request.of(job.asks());
    String best = best(request, snapshot);
    if (message.indexOf(request.asked()) < 0) {
      message.append(" It needs ").append(request.asked()).append('.');
    }
    if (best != null && message.indexOf("the most free now") < 0) {
      message.append(" The most free now is ").append(best).append('.');
    } else if (best == null && job.asks().nodes() == 1) {
      message.append(" No placement that is up could run it.");
    }
    if (position > 0) {
      message
          .append(' ')
          .append(position == 1 ? "One job is" : position + " jobs are")
          .append(" ahead of it in the queue.");
    } else {
      message.append(" It is the first of the queue.");
    }
    String before = remarks().on(job);
    if (before != null) {
      message.append(Remarks.areAllThatIsSaid(job) ? " " : " Before: ").append(sentence(before));
    }
    return new Explanation(
        job.asks().id(),
        job.state(),
        said.code(),
        rule,
        rule == null
            ? null
            : verdict.ruleName() != null ? verdict.ruleName() : deciding.ruleName(rule),
        message.toString(),
        said.behind(),
        request.asked(),
        best,
        position + 1,
        lines(ordering, 0, Math.min(position, MOST_AHEAD), world),
        position,
        last == null ? null : last.decision(),
        last == null ? null : last.at());
  }

  /** The most idle placement that could run it, as the rules see it; null when there is none. */
  private String best(Request request, Snapshot snapshot) {
    Map<String, Integer> reserved = new HashMap<>();
    for (Reservation r : snapshot.reservations()) {
      if (!r.job().equals(request.job())) {
        reserved.merge(place(r.node(), r.tier()), r.gpus(), Integer::sum);
      }
    }
    Map<PlacementGroup, Boolean> fits = new HashMap<>();
    Placement best = null;
    int most = -1;
    for (Placement p : snapshot.placements()) {
      if (p.state() != NodeState.UP
          || !fits.computeIfAbsent(
              p.group(),
              g ->
                  policy
                      .get()
                      .admit(request, snapshot.accounts(), snapshot.tiers(), List.of(p))
                      .accepted())) {
        continue;
      }
      int idle = Math.max(0, p.idle() - reserved.getOrDefault(place(p.node(), p.tier()), 0));
      if (idle > most) {
        most = idle;
        best = p;
      }
    }
    return best == null ? null : most + " on " + best.node() + " (" + best.tier().name() + ")";
  }

  private static String sentence(String words) {
    if (words == null || words.isBlank()) {
      return "";
    }
    String text = words.strip();
    String first = text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1);
    return first.endsWith(".") ? first : first + ".";
  }

  /** What became of a job that is no longer in the queue, in one true sentence or two. */
  private String sentence(Store.JobRecord record) {
    StoredJob job = record.job();
    Attempt attempt = record.attempt();
    if (waitsForVictims(record)) {
      return sentence(waitsFor(attempt));
    }
    StringBuilder text = new StringBuilder();
    String gpus = attempt == null ? "" : gpus(attempt.on());
    String number =
        attempt == null || attempt.clusterJob() == null
            ? ""
            : " as Slurm job " + attempt.clusterJob();
    switch (job.state()) {
      case GLOBAL_QUEUE_WAIT -> text.append("It is back in the queue.");
      case DISPATCHING ->
          text.append("It was given ")
              .append(gpus)
              .append(" at ")
              .append(second(attempt.decidedAt()))
              .append(
                  number.isEmpty()
                      ? " and is being handed to Slurm."
                      : " and waits" + number + " for Slurm to start it.");
      case RUNNING -> {
        Duration run = Duration.between(attempt.startedAt(), now());
        text.append("It runs on ")
            .append(gpus)
            .append(number)
            .append(" since ")
            .append(second(attempt.startedAt()))
            .append(", for ")
            .append(Math.max(0, run.toSeconds()))
            .append(" s; ")
            .append(
                attempt.allocated()
                    ? job.asks().account() + " is charged when it ends."
                    : "this run is unallocated, and nobody is charged for it.");
      }
      default -> {
        boolean ran = attempt != null && attempt.startedAt() != null && attempt.endedAt() != null;
        text.append("It is ").append(job.state());
        if (job.stateReason() != null) {
          text.append(": ").append(job.stateReason());
        }
        text.append(
            ran
                ? ". It ran on "
                : job.startedAt() == null ? ". It never ran" : ". Its last attempt never ran");
        if (ran) {
          text.append(gpus)
              .append(number)
              .append(" from ")
              .append(second(attempt.startedAt()))
              .append(" to ")
              .append(second(attempt.endedAt()))
              .append(" (")
              .append(Duration.between(attempt.startedAt(), attempt.endedAt()).toSeconds())
              .append(" s)");
        }
        text.append("; ")
            .append(job.asks().account())
            .append(" was charged ")
            .append(String.format(Locale.ROOT, "%,.1f", record.chargedTflopSeconds()))
            .append(" TFLOP-s for it in all.");
      }
    }
    if (!job.state().ended() && job.stateReason() != null) {
      text.append(' ').append(sentence(job.stateReason()));
    }
    return text.toString();
  }

  private static Instant second(Instant at) {
    return at.truncatedTo(ChronoUnit.SECONDS);
  }

  private static String gpus(List<Share> on) {
    return on.stream()
        .map(
            s ->
                (s.gpus() == 1 ? "1 GPU" : s.gpus() + " GPUs")
                    + " of "
                    + s.node()
                    + " ("
                    + s.tier().name()
                    + ")")
        .collect(Collectors.joining(", "));
  }

  @Override
  public Page<DecisionView> decisions(String job, int limit, String cursor) {
    int most = page(limit);
    Long wanted = job == null ? null : record(job).job().id();
    return part(store.decisions(wanted, most + 1, before(cursor)), most, decision -> decision.id());
  }

  @Override
  public DecisionView decision(String id) {
    return store.decision(number("decision", id)).orElseThrow(() -> notFound("decision", id));
  }
}
