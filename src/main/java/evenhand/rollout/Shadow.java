package evenhand.rollout;

import evenhand.cycle.CycleReport;
import evenhand.cycle.Recorder;
import evenhand.facts.Snapshot;
import evenhand.outcomes.Decision;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.policy.RuleFailed;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A policy that decides beside the one in force, each recorded decision on its own snapshot:
 * compared, counted and never carried out. It is asked on a thread of low priority; where it does
 * not keep up, decisions are passed over and counted.
 */
public final class Shadow implements AutoCloseable {
  /** Says that nothing decides beside the policy in force. */
  public static final String OFF = "off";

  private static final Logger LOG = LoggerFactory.getLogger("evenhand.rules");
  private static final int MOST_WAITING = 16;
  private static final int MOST_KEPT = 200;

  private final Rollout rollout;
  private final Recorder recorder;
  private final Clock clock;
  private final BiConsumer<String, String> told;
  private final ThreadPoolExecutor thread =
      new ThreadPoolExecutor(
          1,
          1,
          0,
          TimeUnit.SECONDS,
          new ArrayBlockingQueue<>(MOST_WAITING),
          task -> {
            Thread made = new Thread(task, "shadow");
            made.setDaemon(true);
            made.setPriority(Thread.MIN_PRIORITY);
            return made;
          });
  private final AtomicLong decided = new AtomicLong();
  private final AtomicLong differed = new AtomicLong();
  private final AtomicLong dropped = new AtomicLong();
  private final Map<String, Long> clauses = new TreeMap<>();
  private volatile String lastDecision;
  private volatile Policy policy;
  private volatile String notLoaded;

  /**
   * @param told each difference: the clause in force, and the one instead
   */
  public Shadow(Rollout rollout, Recorder recorder, Clock clock, BiConsumer<String, String> told) {
    this.rollout = rollout;
    this.recorder = recorder;
    this.clock = clock;
    this.told = told;
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }

  /**
   * Counts of this process since it started.
   *
   * @param policy null when nothing decides beside the policy in force
   * @param decided decisions that were made again
   * @param differed those in which something differed
   * @param dropped decisions that were passed over
   */
  public record Standing(
      RolloutBook.ShadowPolicy policy,
      long decided,
      long differed,
      long dropped,
      List<PlanReport.Instead> clauses) {}

  /** How it stands. */
  public Standing standing() {
    List<PlanReport.Instead> instead;
    synchronized (clauses) {
      instead = PlanReport.instead(clauses);
    }
    return new Standing(
        rollout.book().shadow().orElse(null),
        decided.get(),
        differed.get(),
        dropped.get(),
        instead);
  }

  /** The last differences, newest first. */
  public List<RolloutBook.ShadowDifference> differences(int limit, long before) {
    return rollout.book().differences(limit, before);
  }

  /** Decisions that were passed over. */
  public long dropped() {
    return dropped.get();
  }

  /**
   * Lets another policy decide beside the one in force.
   *
   * @param which {@link #OFF}; a policy's name, from the rules at hand; or the hash of a policy
   *     that was planned or in force
   * @return null when it is off
   * @throws PolicyFault when the rules at hand do not load
   * @throws evenhand.cycle.Desk.Refused when no such policy is known
   */
  public RolloutBook.ShadowPolicy set(String which, String by) throws PolicyFault {
    if (which.equals(OFF)) {
      rollout.book().shadow(null, Map.of());
      return null;
    }
    Policy found = found(which);
    rollout.know(found);
    RolloutBook.ShadowPolicy shadow =
        new RolloutBook.ShadowPolicy(
            found.name(), found.hash(), clock.instant().truncatedTo(ChronoUnit.MICROS), by);
    rollout.book().shadow(shadow, found.texts());
    LOG.info("Policy {} {} decides beside the one in force", found.name(), found.hash());
    return shadow;
  }

  private Policy found(String which) throws PolicyFault {
    if (!which.startsWith("sha256:")) {
      return rollout.folder().loads(rollout.folder().copy(), which);
    }
    List<RolloutBook.Plan> plans = rollout.book().planned(which);
    String hash = plans.size() == 1 ? plans.get(0).hash() : which;
    Map<String, String> texts = rollout.book().texts(hash);
    if (texts.isEmpty()) {
      throw Rollout.refused(
          "NOT_FOUND",
          "No policy "
              + which
              + " was planned or in force; give the name of one of the rules at hand,"
              + " or plan it first.");
    }
    return Policies.stored(texts);
  }

  /** Told what became of a cycle; a decision that was recorded is made again. */
  public void decided(CycleReport report) {
    if (report.decision() == null
        || report.decisionId() == null
        || report.decisionId().equals(lastDecision)) {
      return;
    }
    lastDecision = report.decisionId();
    // What made it: another may be in force by the time it is compared.
    Policy by = rollout.inForce().get();
    try {
      thread.execute(
          () ->
              compare(
                  report.snapshot(), by, report.decision(), Long.parseLong(report.decisionId())));
    } catch (RejectedExecutionException e) {
      dropped.incrementAndGet();
    }
  }

  private void compare(Snapshot snapshot, Policy by, Decision live, long id) {
    try {
      Policy beside = policy();
      if (beside == null || beside.hash().equals(live.policyHash())) {
        return;
      }
      decided.incrementAndGet();
      Decision other;
      try {
        other = beside.decide(Planner.named(snapshot, beside));
      } catch (RuleFailed e) {
        count("none", "failed");
        keep(live, beside, id, PlanReport.json(new Failed(e.getMessage())));
        return;
      }
      Comparison comparison = Comparison.of(live, other);
      if (!comparison.differs()) {
        return;
      }
      Map<String, Long> counts = new HashMap<>();
      comparison
          .differences()
          .forEach(
              d -> {
                PlanReport.count(counts, d);
                count(
                    Comparison.Difference.clause(d.was()),
                    Comparison.Difference.clause(d.becomes()));
              });
      PlanReport.First first =
          comparison.first() == null
              ? null
              : PlanReport.First.of(id, comparison, by, live, beside, other, recorder);
      keep(
          live,
          beside,
          id,
          PlanReport.json(
              new Differs(
                  comparison.differences().size(),
                  comparison.acts(),
                  PlanReport.instead(counts),
                  first)));
    } catch (RuntimeException | Error e) {
      LOG.warn("Decision {} was not compared: {}", id, e.toString());
    }
  }

  private record Failed(String failure) {}

  private record Differs(
      int jobs, boolean acts, List<PlanReport.Instead> clauses, PlanReport.First first) {}

  /** Counted when it can be read, so that who sees the count finds the difference. */
  private void keep(Decision live, Policy beside, long id, String report) {
    rollout
        .book()
        .differs(
            new RolloutBook.ShadowDifference(
                0, live.now(), id, beside.hash(), live.policyHash(), report),
            MOST_KEPT);
    differed.incrementAndGet();
  }

  private void count(String was, String becomes) {
    synchronized (clauses) {
      clauses.merge(was + "\n" + becomes, 1L, Long::sum);
    }
    told.accept(was, becomes);
  }

  /** The policy that the database names, loaded; null when there is none. */
  private Policy policy() {
    Optional<RolloutBook.ShadowPolicy> wanted = rollout.book().shadow();
    if (wanted.isEmpty()) {
      policy = null;
      return null;
    }
    String hash = wanted.get().hash();
    if (hash.equals(notLoaded)) {
      return null;
    }
    if (policy == null || !policy.hash().equals(hash)) {
      policy = rollout.known(hash);
      if (policy == null) {
        try {
          policy = Policies.stored(rollout.book().texts(hash));
        } catch (PolicyFault e) {
          notLoaded = hash;
          LOG.warn("Policy {} cannot be loaded to decide beside: {}", hash, e.getMessage());
        }
      }
    }
    return policy;
  }
}
