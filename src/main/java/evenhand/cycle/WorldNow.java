package evenhand.cycle;

import evenhand.cycle.Desk.QueueLine;
import evenhand.facts.Job;
import evenhand.facts.Reservation;
import evenhand.facts.Snapshot;
import evenhand.policy.Ordering;
import evenhand.policy.Policy;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** What stands now: the store's rows with the last reading, and the queue as people see it. */
final class WorldNow {
  static final String WAITS_FOR_VICTIMS = "WAITING_FOR_VICTIMS";

  private final Store store;
  private final Supplier<Policy> policy;
  private final Supplier<Cycle.Latest> latest;
  private final Verdicts verdicts;
  private final CycleSettings settings;
  private final Clock clock;

  WorldNow(
      Store store,
      Supplier<Policy> policy,
      Supplier<Cycle.Latest> latest,
      Verdicts verdicts,
      CycleSettings settings,
      Clock clock) {
    this.store = store;
    this.policy = policy;
    this.latest = latest;
    this.verdicts = verdicts;
    this.settings = settings;
    this.clock = clock;
  }

  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MICROS);
  }

  /** What stands now: the store's rows with the last reading. */
  Snapshot snapshot(World world) {
    return survey(world).snapshot(world, policy.get(), settings, now());
  }

  Survey survey(World world) {
    return new Survey(latest.get().reading(), world.tiers(), store.installation(), world.drains());
  }

  World world() {
    return store.load(settings.window(policy.get()).map(now()::minus).orElse(null));
  }

  /** The queue as it stands, under this policy. */
  Scene scene(Policy deciding) {
    World world = store.load(settings.window(deciding).map(now()::minus).orElse(null));
    return new Scene(deciding, world, survey(world).snapshot(world, deciding, settings, now()));
  }

  /** Jobs that were given GPUs which others have still to leave, the longest waiting first. */
  List<QueueLine> waitingStarts(World world) {
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

  static String waitsFor(Attempt attempt) {
    return "it was given "
        + Words.gpus(attempt.on())
        + " at "
        + Words.second(attempt.decidedAt())
        + "; "
        + Effects.waits(attempt.waitsFor(), Words.second(attempt.waitsUntil()))
        + " and it is back in the queue";
  }

  /** Places {@code from} to {@code to} of the queue, with what each job was told last. */
  List<QueueLine> lines(Scene scene, int from, int to) {
    return lines(scene, latest.get(), from, to);
  }

  /**
   * The same.
   *
   * @param found what was told them last
   */
  List<QueueLine> lines(Scene scene, Cycle.Latest found, int from, int to) {
    Ordering ordering = scene.ordering();
    List<Job> order = ordering.jobs();
    Map<String, Verdicts.Verdict> said =
        verdicts.on(found, order.subList(from, Math.max(from, to)).stream().map(Job::id).toList());
    List<QueueLine> lines = new ArrayList<>();
    for (int i = from; i < to; i++) {
      Job job = order.get(i);
      StoredJob stored = scene.job(job.id());
      Verdicts.Verdict verdict = said.get(job.id());
      Verdicts.Said words = Verdicts.said(stored, verdict, scene::place);
      lines.add(
          line(
              i,
              job,
              stored.name(),
              ordering,
              stored.reservation(),
              words.code(),
              words.message()));
    }
    return lines;
  }

  /**
   * @param place in the queue, 0 for the first
   */
  static QueueLine line(
      int place,
      Job job,
      String name,
      Ordering ordering,
      Reservation held,
      String code,
      String message) {
    return new QueueLine(
        place + 1,
        job.id(),
        name,
        job.account(),
        job.user(),
        job.nodes(),
        job.numGpus(),
        job.tier(),
        job.queuedAt(),
        ordering.figures(job),
        ordering.path(job),
        FrontDesk.view(held),
        code,
        message);
  }
}
