package evenhand.service;

import evenhand.api.RuleBook;
import evenhand.check.RecordedScenario;
import evenhand.check.ScenarioTables;
import evenhand.cycle.Desk;
import evenhand.cycle.FrontDesk;
import evenhand.cycle.PastPolicies;
import evenhand.cycle.Recorder;
import evenhand.cycle.RuleHistory;
import evenhand.cycle.Store;
import evenhand.explain.PolicyDoc;
import evenhand.explain.ShownCase;
import evenhand.facts.Snapshot;
import evenhand.input.InputFault;
import evenhand.outcomes.Decision;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.policy.Rule;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The rules of this service as documents and scenarios, from what its database remembers. */
final class RuleBookOfService implements RuleBook {
  private static final Pattern HASH = Pattern.compile("(?:sha256:)?([0-9a-f]{1,64})");

  private final Supplier<Policy> active;
  private final Store store;
  private final RuleHistory history;
  private final Recorder recorder;
  private final Clock clock;
  private final PastPolicies past;
  private final ScenarioTables.Kept shown = new ScenarioTables.Kept();

  RuleBookOfService(
      Supplier<Policy> active,
      Store store,
      RuleHistory history,
      Recorder recorder,
      PastPolicies past,
      Clock clock) {
    this.active = active;
    this.store = store;
    this.history = history;
    this.recorder = recorder;
    this.past = past;
    this.clock = clock;
  }

  @Override
  public PolicyDoc doc(String hash) {
    Policy now = active.get();
    String beginning = hash == null ? now.hash() : beginning(hash);
    boolean isActive = now.hash().startsWith(beginning);
    Policy policy = isActive ? now : past(beginning);
    Instant at = clock.instant();
    Instant day = at.minus(Duration.ofDays(1));
    Instant month = at.minus(Duration.ofDays(30));
    return PolicyDoc.of(
        policy, cases(), counts(day, month, isActive ? null : policy.hash()), day, month);
  }

  private List<ShownCase> cases() {
    try {
      return shown.all(Optional.empty());
    } catch (InputFault e) {
      return List.of(); // a service may have none at hand
    }
  }

  private static String beginning(String hash) {
    Matcher m = HASH.matcher(hash);
    if (!m.matches()) {
      throw new Desk.Refused(
          "INVALID_REQUEST",
          "hash",
          null,
          "must be the hash of a policy, sha256:…, or some digits it begins with");
    }
    return "sha256:" + m.group(1);
  }

  private Policy past(String beginning) {
    List<String> hashes = history.hashes(beginning, 3);
    if (hashes.size() != 1) {
      throw new Desk.Refused(
          "NOT_FOUND",
          "hash",
          null,
          hashes.isEmpty()
              ? "no policy of hash " + beginning + " is kept; decisions names those that decided"
              : beginning
                  + " is the beginning of several hashes, "
                  + hashes
                  + "; write more of it");
    }
    return load(hashes.get(0), history.texts(hashes.get(0)));
  }

  private Policy load(String hash, Map<String, String> texts) {
    try {
      return past.of(hash, texts);
    } catch (PolicyFault e) {
      throw new Desk.Refused(
          "NOT_FOUND",
          "hash",
          null,
          "the texts kept of policy " + hash + " can no longer be loaded: " + e.getMessage());
    }
  }

  /**
   * @param onlyHash counts of this policy only; null for whatever policy decided: a rule that was
   *     not touched by an edit is still the same rule
   */
  private PolicyDoc.Counts counts(Instant day, Instant month, String onlyHash) {
    List<RuleHistory.Count> lastDay = history.counts(day);
    List<RuleHistory.Count> lastMonth = history.counts(month);
    Instant since = history.countedSince();
    return new PolicyDoc.Counts() {
      @Override
      public Long since(Instant from, Rule rule) {
        long sum = 0;
        for (RuleHistory.Count c : from.equals(day) ? lastDay : lastMonth) {
          if (c.clause().equals(rule.clause())
              && (c.rule().isEmpty() || c.rule().equals(rule.name()))
              && (onlyHash == null || c.policyHash().equals(onlyHash))) {
            sum += c.outcomes();
          }
        }
        return sum;
      }

      @Override
      public String basis() {
        return since == null
            ? "Nothing was counted yet: no decision is recorded."
            : "Counts are of recorded outcomes, by whole clock hours, since "
                + since
                + (onlyHash == null
                    ? "."
                    : ", of this policy alone. The scenarios are those at hand today: they are no"
                        + " part of a policy, and are not kept with it.");
      }
    };
  }

  @Override
  public Recorded scenarioOfJob(String id) {
    List<Desk.DecisionView> last = decisionsOf(id);
    if (last.isEmpty()) {
      throw new Desk.Refused(
          "NOT_FOUND", "id", null, "no recorded decision says anything about job " + id);
    }
    return scenarioOfDecision(last.get(0).id());
  }

  private List<Desk.DecisionView> decisionsOf(String id) {
    long job = FrontDesk.number("job", id);
    if (store.job(job).isEmpty()) {
      throw FrontDesk.notFound("job", id);
    }
    return store.decisions(job, 1, Long.MAX_VALUE);
  }

  @Override
  public Recorded scenarioOfDecision(String id) {
    Store.Receipt receipt;
    try {
      receipt =
          store
              .receipt(FrontDesk.number("decision", id))
              .orElseThrow(() -> FrontDesk.notFound("decision", id));
    } catch (Store.Broken e) {
      throw new Desk.Refused("NOT_SAYABLE", "id", null, e.getMessage());
    }
    Policy policy =
        receipt.policyHash().equals(active.get().hash())
            ? active.get()
            : load(receipt.policyHash(), receipt.policyTexts());
    Map<String, String> settings = Policies.set(receipt.policyTexts());
    Snapshot snapshot = recorder.readSnapshot(receipt.snapshotJson());
    Decision decision = recorder.readDecision(receipt.decisionJson()).orElseThrow();
    try {
      return new Recorded(
          id,
          "recorded-decision-" + id + ".yaml",
          RecordedScenario.of(
              "Decision "
                  + id
                  + " of "
                  + receipt.at()
                  + ", by policy "
                  + receipt.policyHash().substring(0, Math.min(19, receipt.policyHash().length())),
              settings,
              policy,
              snapshot,
              decision));
    } catch (RecordedScenario.NotSayable e) {
      throw new Desk.Refused("NOT_SAYABLE", "id", null, "decision " + id + ": " + e.getMessage());
    }
  }
}
