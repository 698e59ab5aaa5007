package evenhand.rollout;

import evenhand.cycle.CycleReport;
import evenhand.cycle.Desk;
import evenhand.cycle.PolicyInForce;
import evenhand.facts.Snapshot;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.policy.RuleFailed;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which policy decides, and how another comes to.
 *
 * <p>{@link #follow} is called before each cycle and {@link #decided} after it, both by the thread
 * that runs cycles: so the policy is exchanged between two of them and never within one. Reading,
 * linting, compiling and the scenarios happen on a thread of its own.
 */
public final class Rollout implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger("evenhand.rules");

  /** Compiled policies that are kept at hand: in force, before it, a candidate, one planned. */
  private static final int MOST_KNOWN = 4;

  private static final int MOST_HISTORY = 1000;
  private static final Pattern HASH = Pattern.compile("(?:sha256:)?([0-9a-f]{8,64})");
  private static final String SETTINGS = "settings";
  private static final String ITSELF = "evenhand";

  /** In the place of a fingerprint where there is no folder. */
  private static final String GONE = "gone";

  /** What becomes of rules that were changed in their folder and pass their check. */
  public enum Applies {
    /** They decide at once. */
    ON_CHANGE,
    /** They wait until somebody has planned and applied them. */
    PLANNED_ONLY
  }

  private final RolloutBook book;
  private final RulesFolder folder;
  private final String setting;
  private final Applies applies;
  private final Clock clock;
  private final ScheduledExecutorService rules =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "rules");
            thread.setDaemon(true);
            return thread;
          });
  private final AtomicReference<String> loading = new AtomicReference<>();
  private final AtomicReference<Failing> besideCycle = new AtomicReference<>();
  private final AtomicLong faulty = new AtomicLong();
  private final AtomicLong fallbacks = new AtomicLong();
  private final Map<String, Policy> known =
      new LinkedHashMap<>(8, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Policy> eldest) {
          return size() > MOST_KNOWN;
        }
      };

  private PolicyInForce inForce;
  private volatile InForce row;
  private volatile Event newest;
  private volatile Candidate candidate;
  private volatile List<PolicyFault.Fault> faults = List.of();
  private volatile String atHand;
  private volatile NotLoaded notLoaded;
  private volatile Snapshot latest;
  private String seen;
  private volatile String examined;
  private String proven;
  private volatile Failing helpless;

  /** What the rules at hand would become when they were applied. */
  private record Candidate(Policy policy, Instant since) {}

  private record NotLoaded(String hash, String why) {}

  /** A policy of which a rule has failed. */
  private record Failing(String hash, String why) {}

  private Rollout(
      RolloutBook book, RulesFolder folder, String setting, Applies applies, Clock clock) {
    this.book = book;
    this.folder = folder;
    this.setting = setting;
    this.applies = applies;
    this.clock = clock;
  }

  /**
   * Finds out which policy decides when a process starts. On a new database it is the one that the
   * settings name, from the rules at hand. Later the one in force stands, whatever the rules at
   * hand are by then; unless the settings name another policy than they did, or say that changed
   * rules decide at once.
   *
   * @param setting the policy's name in the settings
   * @throws PolicyFault when there is no policy that could decide
   */
  public static Rollout begin(
      RolloutBook book, RulesFolder folder, String setting, Applies applies, Clock clock)
      throws PolicyFault {
    Rollout rollout = new Rollout(book, folder, setting, applies, clock);
    String seen = rollout.fingerprint();
    Policy first = rollout.first();
    rollout.know(first);
    rollout.inForce = new PolicyInForce(first);
    rollout.row = book.inForce().orElseThrow();
    rollout.newest = rollout.newest();
    rollout.helpless = rollout.failedAlone();
    rollout.seen = seen;
    rollout.examined = rollout.about(seen);
    LOG.info("Policy {} from {}, {}", first.name(), first.where(), first.hash());
    return rollout;
  }

  private Policy first() throws PolicyFault {
    Optional<InForce> before = book.inForce();
    if (before.isEmpty()) {
      Policy policy = folder.passed(folder.copy(), setting, Map.of());
      InForce first = next(policy, SETTINGS, "the first start on this database");
      if (book.begin(first, policy.texts())) {
        return policy;
      }
      before = book.inForce(); // another process was quicker
    }
    row = before.orElseThrow();
    if (!row.setting().equals(setting)) {
      Policy policy = folder.passed(folder.copy(), setting, Map.of());
      String reason = "evenhand.policy is " + setting + " now and was " + row.setting();
      change(next(policy, SETTINGS, reason), Event.Kind.APPLIED, policy.texts());
      return policy;
    }
    Map<String, String> texts = book.texts(row.hash());
    PolicyFault wrong;
    try {
      Policy policy = folder.passed(folder.copy(), row.policy(), Policies.set(texts));
      atHand = policy.hash();
      if (policy.hash().equals(row.hash())) {
        return policy;
      }
      wrong = failedBefore(policy.hash());
      if (wrong == null && applies == Applies.ON_CHANGE) {
        change(applied(policy), Event.Kind.APPLIED, policy.texts());
        return policy;
      }
      if (wrong == null) {
        found(policy);
      }
    } catch (PolicyFault e) {
      wrong = e;
    }
    if (wrong != null) {
      fault(wrong);
    }
    try {
      return kept(texts);
    } catch (PolicyFault e) {
      throw new PolicyFault(
          new PolicyFault.Fault(
              "policy " + row.policy() + " " + row.hash(),
              0,
              null,
              "is in force, and cannot be loaded any more: "
                  + e.getMessage()
                  + "\nWith --evenhand.rules-apply=on_change the rules at hand take its place."));
    }
  }

  private Policy kept(Map<String, String> texts) throws PolicyFault {
    RulesFolder.Loaded loaded = folder.kept(texts);
    if (!loaded.differs().isEmpty()) {
      LOG.warn(
          "The scenarios have changed since policy {} was put in force, and it does not pass them: {}",
          loaded.policy().hash(),
          loaded.differs().get(0));
    }
    return loaded.policy();
  }

  private InForce next(Policy policy, String by, String reason) {
    return new InForce(policy.name(), policy.hash(), now(), by, reason, setting);
  }

  private InForce applied(Policy policy) {
    return next(policy, "the rules folder", "it was changed, and rules-apply is on_change");
  }

  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MICROS);
  }

  /** What decides, for all who ask. */
  public PolicyInForce inForce() {
    return inForce;
  }

  /** Begins to look at the rules at hand, each so often. */
  public void start(Duration every) {
    rules.scheduleWithFixedDelay(
        this::look, every.toMillis(), every.toMillis(), TimeUnit.MILLISECONDS);
  }

  @Override
  public void close() {
    rules.shutdownNow();
  }

  // ---- what decides -----------------------------------------------------------------------------

  /**
   * Told by whatever thread that a rule has failed beside the cycle, when a job was submitted or
   * cancelled: the policy before takes over ahead of the next cycle, as it does when a rule fails
   * within one.
   */
  public void failed(Policy policy, RuleFailed failed) {
    besideCycle.compareAndSet(null, new Failing(policy.hash(), failed.getMessage()));
  }

  /**
   * Exchanges the policy where a rule of it has failed, or another is in force by now and it is
   * loaded.
   */
  public void follow() {
    Failing failing = besideCycle.get();
    if (failing != null) {
      if (failing.hash().equals(inForce.get().hash())) {
        fallBack(failing.why());
      }
      besideCycle.set(null); // after it: when the database is away it is done before the next cycle
    }
    followRow();
  }

  private void followRow() {
    InForce now = book.inForce().orElse(null);
    if (now == null || now.hash().equals(inForce.get().hash())) {
      row = now == null ? row : now;
      return;
    }
    Policy next = known(now.hash());
    if (next == null) {
      load(now);
      return;
    }
    row = now;
    inForce.exchange(next);
    newest = newest();
    notLoaded = null;
    helpless = null;
    examined = null; // what the rules at hand are to the policy in force is to be seen anew
    LOG.info(
        "Policy {} {} decides from now on: {} ({})",
        now.policy(),
        now.hash(),
        now.reason(),
        now.by());
  }

  private void load(InForce wanted) {
    NotLoaded failed = notLoaded;
    if (failed != null && failed.hash().equals(wanted.hash())
        || !loading.compareAndSet(null, wanted.hash())) {
      return;
    }
    try {
      rules.execute(
          () -> {
            try {
              know(kept(book.texts(wanted.hash())));
            } catch (PolicyFault e) {
              notLoaded = new NotLoaded(wanted.hash(), e.getMessage());
              LOG.error(
                  "Policy {} is in force, and this process cannot load it; it goes on by {}: {}",
                  wanted.hash(),
                  inForce.get().hash(),
                  e.getMessage());
            } catch (RuntimeException e) {
              LOG.warn("Policy {} is not loaded yet: {}", wanted.hash(), e.toString());
            } finally {
              loading.set(null);
            }
          });
    } catch (RejectedExecutionException e) {
      loading.set(null); // it is being stopped
    }
  }

  /** Told what became of a cycle. */
  public void decided(CycleReport report) {
    if (report.result() == CycleReport.Result.RULE_FAILED) {
      fallBack(report.because());
    } else if (report.result() == CycleReport.Result.DECIDED) {
      latest = report.snapshot();
      String hash = inForce.get().hash();
      if (!hash.equals(proven)) {
        book.proven(hash, report.at());
        proven = hash;
      }
    }
  }

  /**
   * A rule has failed: the policy before takes over, if it has decided without failing. Once for
   * each change that somebody made: where that one fails too, it is not the change that is at
   * fault, and going on would only go back and back.
   */
  private void fallBack(String because) {
    String failing = inForce.get().hash();
    if (helpless != null && failing.equals(helpless.hash())) {
      return;
    }
    book.failed(failing, now(), because);
    List<Event> history = book.history(MOST_HISTORY, Long.MAX_VALUE);
    Event last = history.get(0);
    if (!last.hash().equals(failing)) {
      return; // another is in force already
    }
    if (last.kind() != Event.Kind.FELL_BACK) {
      for (Event before : Event.below(history)) {
        Policy good = good(before);
        if (good != null) {
          InForce next =
              new InForce(
                  good.name(),
                  good.hash(),
                  now(),
                  ITSELF,
                  "a rule of " + failing + " failed: " + because,
                  row.setting());
          if (book.change(failing, next, Event.Kind.FELL_BACK, Map.of())) {
            know(good);
            fallbacks.incrementAndGet();
            LOG.error(
                "A rule of policy {} failed, and {} takes over: {}", failing, good.hash(), because);
          }
          followRow();
          return;
        }
      }
    }
    helpless = new Failing(failing, because);
    LOG.error(
        "A rule of policy {} failed, and no earlier policy can take over{}: {}",
        failing,
        last.kind() == Event.Kind.FELL_BACK
            ? ", for it took over itself when another failed: the rules may not be at fault"
            : "",
        because);
  }

  /**
   * The policy in force where a rule of it has failed before this start and it was not replaced.
   */
  private Failing failedAlone() {
    return failedBefore(row.hash()) == null
        ? null
        : book.failure(row.hash()).map(f -> new Failing(row.hash(), f.message())).orElse(null);
  }

  private Policy good(Event before) {
    if (!book.isProven(before.hash()) || failedBefore(before.hash()) != null) {
      return null;
    }
    Policy good = known(before.hash());
    try {
      return good == null ? Policies.stored(book.texts(before.hash())) : good;
    } catch (PolicyFault e) {
      return null; // the one before that, then
    }
  }

  /** A policy that failed is not put in force again but by somebody who says so. */
  private PolicyFault failedBefore(String hash) {
    Optional<RolloutBook.Failure> failure = book.failure(hash);
    if (failure.isEmpty()) {
      return null;
    }
    boolean appliedSince =
        book.history(MOST_HISTORY, Long.MAX_VALUE).stream()
            .anyMatch(
                e ->
                    e.kind() != Event.Kind.FELL_BACK
                        && e.hash().equals(hash)
                        && e.at().isAfter(failure.get().at()));
    return appliedSince
        ? null
        : new PolicyFault(
            new PolicyFault.Fault(
                "rules",
                0,
                null,
                "these rules failed when they decided, at "
                    + failure.get().at()
                    + ": "
                    + failure.get().message()));
  }

  // ---- the rules at hand ------------------------------------------------------------------------

  /** Looks whether the rules at hand have changed and are at rest, and examines them then. */
  void look() {
    try {
      String now = fingerprint();
      boolean settled = now.equals(seen);
      seen = now;
      String about = about(now);
      if (settled && !about.equals(examined)) {
        examined = about;
        examine(now.equals(GONE), Policies.set(inForce.get().texts()));
      }
      Candidate found = candidate;
      if (found != null && found.policy().hash().equals(row.hash())) {
        candidate = null;
      }
    } catch (RuntimeException | Error e) {
      // The database is away, as a rule: it is looked at again. Errors too, for what is thrown here
      // ends the looking for good.
      examined = null;
      LOG.debug("the rules could not be looked at", e);
    }
  }

  private String fingerprint() {
    try {
      return folder.fingerprint();
    } catch (IOException e) {
      return GONE;
    }
  }

  /** All on which hangs what the rules at hand would be. */
  private String about(String fingerprint) {
    return fingerprint
        + "\n"
        + row.policy()
        + "\n"
        + row.hash()
        + "\n"
        + Policies.set(inForce.get().texts());
  }

  private void examine(boolean gone, Map<String, String> set) {
    Policy policy = null;
    String before = atHand;
    try {
      if (gone) {
        if (folder.isThere()) {
          folder.copy(); // says what of it cannot be looked into
        }
        throw new PolicyFault(
            new PolicyFault.Fault(
                folder.where(),
                0,
                null,
                "cannot be read; put the folder back, or restart with another"));
      }
      policy = folder.passed(folder.copy(), row.policy(), set);
      PolicyFault failed = null;
      if (!policy.hash().equals(row.hash())) { // what decides has shown what it can do
        failed = failedBefore(policy.hash());
        failed = failed == null ? failsNow(policy) : failed;
      }
      atHand = policy.hash();
      if (failed != null) {
        throw failed;
      }
    } catch (PolicyFault e) {
      if (policy == null) {
        atHand = gone ? null : "";
      }
      candidate = null;
      fault(e);
      return;
    }
    if (!faults.isEmpty()) {
      faults = List.of();
      LOG.info("The rules in {} pass their check again", folder.where());
    }
    if (policy.hash().equals(row.hash())) {
      candidate = null;
      return;
    }
    know(policy);
    // What was there before the policy in force changed was not put there to decide anew: somebody
    // may
    // just have gone back from it.
    if (applies == Applies.PLANNED_ONLY || policy.hash().equals(before)) {
      found(policy);
    } else if (!change(applied(policy), Event.Kind.APPLIED, policy.texts())) {
      examined = null; // another was put in force just now
    }
  }

  /**
   * What comes of a policy on the cluster and the queue as they were last seen: scenarios are
   * small, and rules that multiply facts fail on large ones only. It is warm then, too.
   */
  private PolicyFault failsNow(Policy policy) {
    Snapshot now = latest;
    if (now == null) {
      return null; // no cycle was run here yet
    }
    try {
      folder.decides(policy, Planner.named(now, policy));
      return null;
    } catch (PolicyFault e) {
      return new PolicyFault(
          new PolicyFault.Fault(
              "rules",
              0,
              null,
              "these rules fail on the queue as it is now: " + e.faults().get(0).sentence()));
    }
  }

  private void fault(PolicyFault e) {
    faults = e.faults();
    faulty.incrementAndGet();
    LOG.warn(
        "The rules in {} cannot decide; those in force go on:\n{}", folder.where(), e.getMessage());
  }

  private void found(Policy policy) {
    Candidate known = candidate;
    if (known != null && known.policy().hash().equals(policy.hash())) {
      return;
    }
    candidate = new Candidate(policy, now());
    LOG.info(
        "The rules in {} are not those in force: they pass their check as {}. See what they would do"
            + " with \"evenhand policy plan\"; until they are applied, {} decides",
        folder.where(),
        policy.hash(),
        row.hash());
  }

  // ---- changing it ------------------------------------------------------------------------------

  private boolean change(InForce next, Event.Kind kind, Map<String, String> texts) {
    return book.change(row.hash(), next, kind, texts);
  }

  /**
   * Puts a planned policy in force: from the next cycle on, in every process.
   *
   * @param hash of a plan, or how it begins
   * @param despite whether broken guard rails are accepted
   * @throws Desk.Refused {@code NOT_PLANNED}, {@code CHANGED_MEANWHILE}, {@code GUARDRAILS_BROKEN}
   *     or {@code IN_FORCE}
   */
  public InForce apply(String hash, String by, String reason, boolean despite) {
    RolloutBook.Plan plan = planned(hash);
    InForce now = book.inForce().orElseThrow();
    if (plan.hash().equals(now.hash())) {
      throw refused("IN_FORCE", "Policy " + plan.hash() + " is in force already.");
    }
    if (!plan.against().equals(now.hash())) {
      throw refused(
          "CHANGED_MEANWHILE",
          "Plan "
              + plan.id()
              + " compares with policy "
              + plan.against()
              + ", and "
              + now.hash()
              + " is in force by now; plan again.");
    }
    if (!plan.passes() && !despite) {
      throw refused(
          "GUARDRAILS_BROKEN",
          "Plan "
              + plan.id()
              + " breaks guard rails (\"evenhand policy plans "
              + plan.id()
              + "\" shows them). Nothing was applied; --despite-guardrails (despite_guardrails)"
              + " applies it all the same.");
    }
    InForce next = new InForce(plan.policy(), plan.hash(), now(), by, reason, now.setting());
    return put(now, next, Event.Kind.APPLIED);
  }

  /**
   * Puts the policy before in force again.
   *
   * @throws Desk.Refused {@code NO_PREVIOUS} or {@code CHANGED_MEANWHILE}
   */
  public InForce rollback(String by, String reason) {
    InForce now = book.inForce().orElseThrow();
    Event before =
        Event.below(book.history(MOST_HISTORY, Long.MAX_VALUE)).stream()
            .findFirst()
            .orElseThrow(
                () ->
                    refused(
                        "NO_PREVIOUS",
                        "Policy "
                            + now.hash()
                            + " is the first of this database: there is none to go back to."));
    InForce next = new InForce(before.policy(), before.hash(), now(), by, reason, now.setting());
    return put(now, next, Event.Kind.ROLLED_BACK);
  }

  private InForce put(InForce now, InForce next, Event.Kind kind) {
    if (known(next.hash()) == null) {
      try {
        know(Policies.stored(book.texts(next.hash())));
      } catch (PolicyFault e) {
        throw refused(
            "NOT_LOADED", "Policy " + next.hash() + " cannot be loaded: " + e.getMessage());
      }
    }
    if (!book.change(now.hash(), next, kind, Map.of())) {
      throw refused(
          "CHANGED_MEANWHILE", "Another policy was put in force just now; see policy history.");
    }
    return next;
  }

  private RolloutBook.Plan planned(String hash) {
    String whole =
        Optional.of(HASH.matcher(hash))
            .filter(m -> m.matches())
            .map(m -> "sha256:" + m.group(1))
            .orElseThrow(
                () ->
                    new Desk.Refused(
                        "INVALID_REQUEST",
                        "hash",
                        null,
                        "must be the hash of a plan, sha256:…, or at least 8 digits it begins with"));
    List<RolloutBook.Plan> plans = book.planned(whole);
    if (plans.size() > 1) {
      throw refused(
          "NOT_PLANNED", "Several planned policies begin with " + whole + "; say more of it.");
    }
    return plans.stream()
        .findFirst()
        .orElseThrow(
            () ->
                refused(
                    "NOT_PLANNED",
                    "No policy "
                        + whole
                        + " is planned; \"evenhand policy plan\" plans the rules at hand, and says what"
                        + " to apply."));
  }

  static Desk.Refused refused(String code, String message) {
    return new Desk.Refused(code, null, null, message);
  }

  // ---- what to tell -----------------------------------------------------------------------------

  /** The history, newest first; ids below {@code before}. */
  public List<Event> history(int limit, long before) {
    return book.history(limit, before);
  }

  /**
   * How things stand.
   *
   * @param candidate hash of the rules at hand where they pass their check and are not in force;
   *     else null
   * @param since when they were found so; null without a candidate
   * @param faults why the rules at hand cannot decide; empty when they can
   * @param alarm a rule has failed and another policy decides or there is none that could, or the
   *     policy in force cannot be loaded here; null when none of it is so
   */
  public record Status(
      InForce inForce,
      String from,
      String candidate,
      Instant since,
      List<PolicyFault.Fault> faults,
      String alarm) {}

  /** How things stand in this process. */
  public Status status() {
    Candidate found = candidate;
    boolean other = found != null && !found.policy().hash().equals(row.hash());
    return new Status(
        row,
        folder.where(),
        other ? found.policy().hash() : null,
        other ? found.since() : null,
        faults,
        alarm());
  }

  private String alarm() {
    NotLoaded failed = notLoaded;
    if (failed != null) {
      return "policy " + failed.hash() + " is in force and cannot be loaded here: " + failed.why();
    }
    Failing alone = helpless;
    if (alone != null) {
      return "a rule of policy "
          + alone.hash()
          + " failed, and no earlier policy can take over: "
          + alone.why();
    }
    Event last = newest;
    boolean stillThere = atHand == null || atHand.equals(last.from());
    return last.kind() == Event.Kind.FELL_BACK && stillThere
        ? last.reason() + "; " + last.hash() + " took over at " + last.at()
        : null;
  }

  private Event newest() {
    return book.history(1, Long.MAX_VALUE).get(0);
  }

  /** How often changed rules were found faulty. */
  public long faultsFound() {
    return faulty.get();
  }

  /** How often a policy failed and another took over. */
  public long fellBack() {
    return fallbacks.get();
  }

  /** Forgets old plans. */
  public void forget(Duration olderThan, Instant at) {
    book.forget(olderThan, at);
  }

  RolloutBook book() {
    return book;
  }

  RulesFolder folder() {
    return folder;
  }

  void know(Policy policy) {
    synchronized (known) {
      known.put(policy.hash(), policy);
    }
  }

  Policy known(String hash) {
    synchronized (known) {
      return known.get(hash);
    }
  }
}
