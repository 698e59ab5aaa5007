package evenhand.cycle;

import evenhand.facts.Claim;
import evenhand.facts.Ended;
import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.Reservation;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.policy.Policy;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The desk over the store, the policy, and what the last cycles found. */
public final class FrontDesk implements Desk {
  private static final int MOST_A_PAGE = 1000;
  private static final int CANCEL_TRIES = 10;
  private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,18}");

  private final Store store;
  private final Supplier<Policy> policy;
  private final Supplier<Cycle.Latest> latest;
  private final WorldNow stands;
  private final RuleAlarm alarm;
  private final Submissions submissions;
  private final Why why;
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
    this(
        store,
        policy,
        latest,
        Recorder.NOTHING,
        new PastPolicies(),
        job -> Optional.empty(),
        StartEstimates.NONE,
        RuleAlarm.UNHEARD,
        settings,
        clock);
  }

  /**
   * @param latest what the cycle of this process found last: {@code cycle::latest}
   * @param recorder reads recorded decisions and snapshots, for what another process decided and
   *     for what was decided before
   * @param past policies that decided before, as loaded again
   * @param objections what the cluster would not take of a submission
   * @param estimates remembers what was told about starts
   * @param alarm told when a rule of admission or of settlement fails
   */
  public FrontDesk(
      Store store,
      Supplier<Policy> policy,
      Supplier<Cycle.Latest> latest,
      Recorder recorder,
      PastPolicies past,
      Function<NewJob, Optional<Objection>> objections,
      StartEstimates estimates,
      RuleAlarm alarm,
      CycleSettings settings,
      Clock clock) {
    Verdicts verdicts = new Verdicts(store, recorder);
    this.store = store;
    this.policy = policy;
    this.latest = latest;
    this.stands = new WorldNow(store, policy, latest, verdicts, settings, clock);
    this.alarm = alarm;
    this.submissions =
        new Submissions(store, policy, latest, objections, alarm, stands, settings, clock);
    this.why = new Why(store, policy, latest, stands, verdicts, recorder, past, estimates, clock);
    this.clock = clock;
  }

  /**
   * A cycle came to its end, and somebody is about to call {@link #look}. Until that is done,
   * questions are answered from the look before, and say of when that is.
   */
  public void isLookedAt() {
    why.isLookedAt();
  }

  /** Looks at the queue, so that those who ask next need not wait for it. */
  public void look() {
    why.look();
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
    Receipt receipt = submissions.receive(submitted, idempotencyKey);
    why.changed();
    return receipt;
  }

  /** That there is no such thing. */
  public static Refused notFound(String what, String id) {
    return new Refused("NOT_FOUND", "id", null, "there is no " + what + " " + id);
  }

  /**
   * An id as the store counts, and as it writes it: 01 and +1 name nothing.
   *
   * @throws Refused {@code NOT_FOUND} where it can be none
   */
  public static long number(String what, String id) {
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
  public Page<JobView> jobs(String state, String account, String user, int limit, String cursor) {
    if (account != null && account.indexOf('\0') >= 0) {
      throw Submissions.invalid("account", "there is no account of that name");
    }
    JobState wanted = null;
    if (state != null) {
      wanted =
          Arrays.stream(JobState.values())
              .filter(s -> s.name().equalsIgnoreCase(state))
              .findFirst()
              .orElseThrow(
                  () ->
                      Submissions.invalid(
                          "state",
                          "there is no state \""
                              + state
                              + "\"; known are "
                              + Arrays.stream(JobState.values())
                                  .map(JobState::name)
                                  .collect(Collectors.joining(", "))));
    }
    int most = page(limit);
    List<Store.JobRecord> found = store.jobs(wanted, account, user, most + 1, before(cursor));
    Remarks remarks = remarks();
    return part(
        found.stream().map(r -> view(r, remarks.on(r.job()))).toList(), most, view -> view.id());
  }

  private static int page(int limit) {
    if (limit < 1) {
      throw Submissions.invalid("limit", "limit is at least 1");
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
    throw Submissions.invalid("cursor", "\"" + cursor + "\" is no cursor that this service gave");
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

  static JobView view(Store.JobRecord record, String reason) {
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

  static ReservationView view(Reservation held) {
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
        why.changed();
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
        changes.settle(
            job,
            job.asks().attempt(),
            alarm.heard(policy.get(), deciding -> deciding.settle(end, changes.at())));
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

  @Override
  public Page<QueueLine> queue(int limit, String cursor) {
    return queue(null, limit, cursor);
  }

  @Override
  public Page<QueueLine> queue(String search, int limit, String cursor) {
    int most = page(limit);
    int from = cursor == null || cursor.isBlank() ? 0 : (int) Math.min(before(cursor), 1 << 30);
    Scene scene = stands.scene(policy.get());
    int size = scene.ordering().jobs().size();
    Predicate<QueueLine> sought = sought(search);
    List<QueueLine> lines = new ArrayList<>();
    if (from <= 0) {
      stands.waitingStarts(scene.world()).stream().filter(sought).forEach(lines::add);
    }
    int full = lines.size() + most;
    int at = Math.max(from, 0);
    // Without a search one part is all there is to look at; with one, as many as it takes.
    while (at < size && lines.size() < full) {
      int to = Math.min(size, at + (search == null ? full - lines.size() : MOST_A_PAGE));
      for (QueueLine line : stands.lines(scene, at, to)) {
        if (lines.size() < full && sought.test(line)) {
          lines.add(line);
          at = line.position();
        }
      }
      at = lines.size() < full ? to : at;
    }
    return new Page<>(lines, at < size ? Integer.toString(at) : null);
  }

  private static Predicate<QueueLine> sought(String search) {
    if (search == null) {
      return line -> true;
    }
    String letters = search.toLowerCase(Locale.ROOT);
    return line ->
        Stream.of(line.id(), line.name(), line.account(), line.user(), line.code())
            .anyMatch(text -> text != null && text.toLowerCase(Locale.ROOT).contains(letters));
  }

  @Override
  public List<PlacementView> placements() {
    World world = store.load(null);
    Snapshot snapshot = stands.snapshot(world);
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
      Survey survey = stands.survey(world);
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

  static String place(String node, Tier tier) {
    return node + "\n" + tier.name();
  }

  @Override
  public Explanation why(String id) {
    return why.of(id, WhyAsked.PLAIN);
  }

  @Override
  public Explanation why(String id, WhyAsked asked) {
    return why.of(id, asked);
  }

  @Override
  public Comparison against(String id, String other) {
    return why.against(id, other);
  }

  @Override
  public Page<DecisionView> decisions(String job, int limit, String cursor) {
    int most = page(limit);
    Long wanted = job == null ? null : record(job).job().id();
    return part(store.decisions(wanted, most + 1, before(cursor)), most, decision -> decision.id());
  }

  @Override
  public Page<DecisionFound> findDecisions(DecisionFilter filter, int limit, String cursor) {
    int most = page(limit);
    return part(store.findDecisions(filter, most + 1, before(cursor)), most, found -> found.id());
  }

  @Override
  public DecisionView decision(String id) {
    return store.decision(number("decision", id)).orElseThrow(() -> notFound("decision", id));
  }
}
