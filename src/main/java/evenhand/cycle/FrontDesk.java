package evenhand.cycle;

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
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.Remark;
import evenhand.outcomes.Reserve;
import evenhand.outcomes.Wait;
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
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** The desk over the store, the policy, and what the last cycles found. */
public final class FrontDesk implements Desk {
  private static final int MOST_A_PAGE = 1000;
  private static final int MOST_AHEAD = 10;
  private static final int CANCEL_TRIES = 10;
  private static final int LONGEST_KEY = 255;

  private final Store store;
  private final Supplier<Policy> policy;
  private final Supplier<Cycle.Latest> latest;
  private final Function<String, Optional<Decision>> decisions;
  private final CycleSettings settings;
  private final Clock clock;

  /**
   * @param latest what the cycle of this process found last: {@code cycle::latest}
   */
  public FrontDesk(
      Store store,
      Supplier<Policy> policy,
      Supplier<Cycle.Latest> latest,
      CycleSettings settings,
      Clock clock) {
    this(store, policy, latest, json -> Optional.empty(), settings, clock);
  }

  /**
   * @param latest what the cycle of this process found last: {@code cycle::latest}
   * @param decisions reads a recorded decision, for what another process decided
   */
  public FrontDesk(
      Store store,
      Supplier<Policy> policy,
      Supplier<Cycle.Latest> latest,
      Function<String, Optional<Decision>> decisions,
      CycleSettings settings,
      Clock clock) {
    this.store = store;
    this.policy = policy;
    this.latest = latest;
    this.decisions = decisions;
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
  public Receipt receive(NewJob job, String idempotencyKey) {
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
    known("account", job.account(), world.accounts().stream().map(a -> a.id()).toList());
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
    String remark =
        admission.remarks().isEmpty()
            ? null
            : admission.remarks().stream().map(Remark::message).collect(Collectors.joining(" "));
    return same(store.add(job, minimum, remark, key, now()), idempotencyKey);
  }

  private static Receipt same(Store.Added added, String key) {
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
    return new Receipt(view(added.record()), added.isNew());
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

  /** An id as the store counts; one that is no number names nothing. */
  static long number(String what, String id) {
    try {
      return Long.parseLong(id);
    } catch (NumberFormatException e) {
      throw notFound(what, id);
    }
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
    return part(found.stream().map(FrontDesk::view).toList(), most, view -> view.id());
  }

  private static int page(int limit) {
    if (limit < 1) {
      throw invalid("limit", "limit is at least 1");
    }
    return Math.min(limit, MOST_A_PAGE);
  }

  static long before(String cursor) {
    if (cursor == null || cursor.isBlank()) {
      return Long.MAX_VALUE;
    }
    try {
      return Long.parseLong(cursor);
    } catch (NumberFormatException e) {
      throw invalid("cursor", "\"" + cursor + "\" is no cursor that this service gave");
    }
  }

  /** One more than asked for was read, to know whether there is a part after this one. */
  static <T> Page<T> part(List<T> read, int limit, Function<T, String> cursor) {
    if (read.size() <= limit) {
      return new Page<>(read, null);
    }
    List<T> items = read.subList(0, limit);
    return new Page<>(items, cursor.apply(items.get(limit - 1)));
  }

  private static JobView view(Store.JobRecord record) {
    StoredJob job = record.job();
    Job asks = job.asks();
    Attempt attempt = record.attempt();
    boolean queued = job.state() == JobState.GLOBAL_QUEUE_WAIT;
    return new JobView(
        asks.id(),
        job.name(),
        asks.account(),
        asks.user(),
        job.state(),
        job.stateReason(),
        asks.nodes(),
        asks.numGpus(),
        asks.tier(),
        asks.minimumTierSortOrder(),
        asks.priority(),
        asks.minRuntimeSeconds(),
        asks.resumable(),
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
        record.chargedTflopSeconds());
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
    Ended end =
        new Ended(
            job.asks().id(),
            job.asks().account(),
            JobState.CANCELLED.name(),
            job.carriedTflopSeconds(),
            job.reservation(),
            null);
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
    if (store.open(Order.Kind.CANCEL, token).isEmpty()) {
      changes.write(Order.cancel(token, changes.at()));
    }
  }

  /** What stands now: the store's rows with the last reading. */
  private Snapshot snapshot(World world) {
    return survey(world).snapshot(world, policy.get(), settings, now());
  }

  private Survey survey(World world) {
    return new Survey(latest.get().reading(), world.tiers(), store.installation());
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
    List<Job> order = policy.get().order(snapshot);
    int to = Math.min(order.size(), Math.max(from, 0) + most);
    List<QueueLine> lines = lines(order, Math.max(from, 0), to, world, snapshot);
    return new Page<>(lines, to < order.size() ? Integer.toString(to) : null);
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

  private List<QueueLine> lines(List<Job> order, int from, int to, World world, Snapshot snapshot) {
    Map<String, StoredJob> jobs = new HashMap<>();
    world.jobs().forEach(j -> jobs.put(j.asks().id(), j));
    Map<String, Verdict> verdicts =
        verdicts(order.subList(from, Math.max(from, to)).stream().map(Job::id).toList());
    List<QueueLine> lines = new ArrayList<>();
    for (int i = from; i < to; i++) {
      Job job = order.get(i);
      StoredJob stored = jobs.get(job.id());
      Verdict verdict = verdicts.get(job.id());
      String code = null;
      String message = null;
      if (verdict != null && verdict.decided().outcome() instanceof Wait wait) {
        code = wait.code();
        message = wait.message();
      } else if (stored.reservation() != null) {
        code = "GATHERING";
        message = gathering(stored);
      }
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
              policy.get().figures(job, snapshot),
              view(stored.reservation()),
              code,
              message));
    }
    return lines;
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
      views.add(
          new PlacementView(
              p.node(),
              p.tier().name(),
              p.capacity(),
              p.state() == NodeState.UP ? Math.max(0, p.idle() - gpus) : 0,
              gpus,
              held.isEmpty() ? null : held.get(0).job(),
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
  public List<AccountView> accounts() {
    return store.inventory().accounts().stream()
        .map(a -> new AccountView(a.id(), a.parent(), a.weight(), a.cumulativeUsage()))
        .toList();
  }

  @Override
  public Explanation why(String id) {
    Store.JobRecord record = record(id);
    return record.job().state() == JobState.GLOBAL_QUEUE_WAIT
        ? waiting(record.job())
        : told(record, sentence(record));
  }

  private Explanation told(Store.JobRecord record, String message) {
    StoredJob job = record.job();
    return new Explanation(
        job.asks().id(),
        job.state(),
        job.state().name(),
        null,
        null,
        message,
        null,
        null,
        null,
        null,
        List.of(),
        0,
        store.decisions(job.id(), 1, Long.MAX_VALUE).stream()
            .findFirst()
            .map(DecisionView::id)
            .orElse(null),
        job.endedAt() != null ? job.endedAt() : job.startedAt());
  }

  private Explanation waiting(StoredJob job) {
    World world = world();
    Snapshot snapshot = snapshot(world);
    Policy deciding = policy.get();
    List<Job> order = deciding.order(snapshot);
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
    String code = "NOT_DECIDED";
    String rule = verdict == null ? null : verdict.rule();
    String behind = null;
    StringBuilder message = new StringBuilder();
    if (verdict != null && verdict.outcome() instanceof Wait wait) {
      code = wait.code();
      behind = wait.behind();
      message.append(sentence(wait.message()));
    } else if (job.reservation() != null
        || verdict != null
            && (verdict.outcome() instanceof Reserve || verdict.outcome() instanceof Absorb)) {
      code = "GATHERING";
      message.append(job.reservation() == null ? "It gathers GPUs." : sentence(gathering(job)));
    } else {
      rule = null;
      message.append("It has not had a turn yet; the next cycle looks at it.");
    }
    CycleReport report = found.report();
    if (report != null
        && report.result() != CycleReport.Result.DECIDED
        && report.result() != CycleReport.Result.STANDBY) {
      message.append(" The last cycle decided nothing: ").append(report.because()).append('.');
    }
    Request request = request(job.asks());
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
    if (job.stateReason() != null) {
      message.append(" Before: ").append(sentence(job.stateReason()));
    }
    return new Explanation(
        job.asks().id(),
        job.state(),
        code,
        rule,
        rule == null
            ? null
            : verdict.ruleName() != null ? verdict.ruleName() : deciding.ruleName(rule),
        message.toString(),
        behind,
        request.asked(),
        best,
        position + 1,
        lines(order, 0, Math.min(position, MOST_AHEAD), world, snapshot),
        position,
        last == null ? null : last.decision(),
        last == null ? null : last.at());
  }

  private static Request request(Job asks) {
    return new Request(
        asks.nodes(),
        asks.numGpus(),
        asks.tier(),
        asks.minimumTierSortOrder(),
        asks.id(),
        asks.account(),
        asks.user(),
        null,
        asks.priority(),
        asks.minRuntimeSeconds(),
        asks.resumable(),
        asks.attempt());
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
            .append(job.asks().account())
            .append(" is charged when it ends.");
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
