package evenhand.service;

import evenhand.cycle.AccountSetup;
import evenhand.cycle.CycleSettings;
import evenhand.cycle.events.Event;
import evenhand.facts.Tier;
import evenhand.input.Spelling;
import evenhand.rollout.Rollout;
import evenhand.webhook.Webhook;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** All settings under {@code evenhand}; application.yaml says what each means. */
@ConfigurationProperties("evenhand")
record Settings(
    String cluster,
    @DefaultValue("main") String clusterName,
    @DefaultValue("reservation") String policy,
    String rules,
    @DefaultValue("planned_only") Rollout.Applies rulesApply,
    @DefaultValue("1s") Duration rulesLook,
    String shadow,
    @DefaultValue("true") boolean checkScenarios,
    @DefaultValue List<TierSetting> tiers,
    @DefaultValue List<AccountSetting> accounts,
    @DefaultValue List<NodeSetting> nodes,
    @DefaultValue CycleSetting cycle,
    @DefaultValue SubmissionSetting submission,
    @DefaultValue RouterSetting router,
    @DefaultValue("30d") Duration keep,
    String security,
    @DefaultValue OidcSetting oidc,
    @DefaultValue List<WebhookSetting> webhooks) {
  private static final Set<String> WEB = Set.of("http", "https");

  record TierSetting(
      String name,
      Integer sortOrder,
      Double tflops,
      @DefaultValue("8") int maxGpus,
      @DefaultValue("true") boolean autoAssign,
      String partition,
      String gres) {}

  record AccountSetting(String id, String parent, @DefaultValue("1") double weight) {}

  record NodeSetting(String name, String tier, int gpus) {}

  record CycleSetting(
      @DefaultValue("true") boolean enabled,
      @DefaultValue("5s") Duration interval,
      @DefaultValue("5s") Duration lease,
      @DefaultValue("60s") Duration staleAfter,
      Duration lookback,
      @DefaultValue("60s") Duration goneAfter,
      @DefaultValue("3") int goneReadings,
      @DefaultValue("5") int maxNodeFailures,
      @DefaultValue("100") int maxAttempts,
      @DefaultValue("50") int ordersPerCycle) {}

  record SubmissionSetting(
      @DefaultValue("30s") Duration pause,
      @DefaultValue("5m") Duration maxPause,
      @DefaultValue("10") int maxTries,
      @DefaultValue("15m") Duration giveUpAfter,
      @DefaultValue("10m") Duration pendingLimit,
      @DefaultValue("10m") Duration slack,
      @DefaultValue("3") int failuresPerCycle) {}

  record RouterSetting(
      URI url,
      @DefaultValue("5s") Duration timeout,
      @DefaultValue("10m") Duration maxAge,
      @DefaultValue("1000") int capacity) {}

  record OidcSetting(
      @DefaultValue("preferred_username") String userClaim,
      @DefaultValue("evenhand_roles") String rolesClaim,
      @DefaultValue("evenhand_accounts") String accountsClaim) {}

  record WebhookSetting(
      String name,
      URI url,
      String secret,
      @DefaultValue List<String> kinds,
      @DefaultValue("5s") Duration timeout,
      @DefaultValue("1d") Duration giveUpAfter) {}

  /**
   * @throws IllegalArgumentException naming the setting that is missing or wrong
   */
  List<Webhook> hooks() {
    List<Webhook> hooks = new ArrayList<>();
    Needs needs = new Needs();
    List<String> known = Arrays.stream(Event.Kind.values()).map(Event.Kind::word).toList();
    for (int i = 0; i < webhooks.size(); i++) {
      WebhookSetting w = webhooks.get(i);
      String where = "evenhand.webhooks[" + i + "]";
      boolean reached =
          needs.need(
              w.url() != null && w.url().getHost() != null && WEB.contains(w.url().getScheme()),
              where + ".url is missing or no address such as https://chat.example.org/evenhand");
      Set<Event.Kind> kinds = EnumSet.noneOf(Event.Kind.class);
      for (String word : w.kinds()) {
        needs.need(
            known.contains(word),
            where + ".kinds: there is no event " + word + "; " + Spelling.hint(word, known));
        Event.Kind.of(word).ifPresent(kinds::add);
      }
      needs.need(
          !w.timeout().isNegative() && !w.timeout().isZero() && !w.giveUpAfter().isNegative(),
          where + ": timeout must be longer than 0 s, give-up-after 0 s or longer");
      if (!reached) {
        continue;
      }
      String name = w.name() == null || w.name().isBlank() ? w.url().toString() : w.name();
      needs.need(
          hooks.stream().noneMatch(h -> h.name().equals(name)),
          where + ": there are two webhooks " + name + "; give each a name of its own");
      String secret = w.secret() == null || w.secret().isBlank() ? null : w.secret();
      hooks.add(new Webhook(name, w.url(), secret, kinds, w.timeout(), w.giveUpAfter()));
    }
    needs.hold();
    return hooks;
  }

  CycleSettings forCycle() {
    return new CycleSettings(
        clusterName,
        cycle.staleAfter(),
        cycle.lookback(),
        cycle.goneAfter(),
        cycle.goneReadings(),
        cycle.maxNodeFailures(),
        cycle.maxAttempts(),
        submission.pause(),
        submission.maxPause(),
        submission.maxTries(),
        submission.giveUpAfter(),
        submission.pendingLimit(),
        submission.slack(),
        cycle.ordersPerCycle(),
        submission.failuresPerCycle());
  }

  /**
   * @throws IllegalArgumentException naming the setting that is missing or wrong
   */
  List<Tier> tierFacts() {
    Needs needs = new Needs();
    Set<String> names = new HashSet<>();
    for (int i = 0; i < tiers.size(); i++) {
      TierSetting t = tiers.get(i);
      String where = "evenhand.tiers[" + i + "]";
      if (needs.need(t.name() != null && !t.name().isBlank(), where + ".name is missing")) {
        needs.need(names.add(t.name()), where + ".name: there are two tiers " + t.name());
      }
      needs.need(t.sortOrder() != null, where + ".sort-order is missing: higher is better");
      needs.need(
          t.tflops() != null && t.tflops() >= 0 && Double.isFinite(t.tflops()),
          where + ".tflops is missing or no number: what a GPU-second of it costs");
      needs.need(
          t.maxGpus() > 0, where + ".max-gpus is " + t.maxGpus() + "; it must be at least 1");
    }
    needs.hold();
    return tiers.stream()
        .map(
            t ->
                new Tier(
                    t.name(),
                    t.sortOrder(),
                    t.tflops(),
                    t.maxGpus(),
                    t.autoAssign(),
                    t.partition(),
                    t.gres() == null ? "gpu:" + t.name() : t.gres()))
        .toList();
  }

  /**
   * @throws IllegalArgumentException naming the setting that is missing or wrong
   */
  List<AccountSetup> accountSetups() {
    Needs needs = new Needs();
    Set<String> named = new HashSet<>();
    for (int i = 0; i < accounts.size(); i++) {
      AccountSetting a = accounts.get(i);
      String where = "evenhand.accounts[" + i + "]";
      if (needs.need(a.id() != null && !a.id().isBlank(), where + ".id is missing")) {
        needs.need(named.add(a.id()), where + ".id: there are two accounts " + a.id());
      }
      needs.need(
          a.weight() >= 0 && Double.isFinite(a.weight()),
          where + ".weight is " + a.weight() + "; it must be 0 or more");
      needs.need(
          a.parent() == null || named.contains(a.parent()),
          where + ".parent is " + a.parent() + ", which must be listed before " + a.id());
    }
    needs.hold();
    return accounts.stream().map(a -> new AccountSetup(a.id(), a.parent(), a.weight())).toList();
  }

  /** Folder of the rules; empty for those at hand. */
  Optional<Path> rulesFolder() {
    return rules == null || rules.isBlank() ? Optional.empty() : Optional.of(Path.of(rules));
  }

  /**
   * What a cluster of the site's own needs.
   *
   * @throws IllegalArgumentException naming the setting that is missing or wrong
   */
  void checkCluster(Mode mode) {
    Needs needs = new Needs();
    needs.all(this::tierFacts);
    needs.need(!tiers.isEmpty(), "evenhand.tiers is empty: no GPU could be used");
    needs.all(this::accountSetups);
    needs.need(!accounts.isEmpty(), "evenhand.accounts is empty: nobody could submit a job");
    if (mode == Mode.SIMULATED) {
      nodes(needs);
    }
    needs.hold();
  }

  private void nodes(Needs needs) {
    needs.need(
        !nodes.isEmpty(),
        "evenhand.nodes is empty: a simulated cluster needs the name, tier and gpus of each node");
    List<String> names = tiers.stream().map(TierSetting::name).filter(Objects::nonNull).toList();
    for (int i = 0; i < nodes.size(); i++) {
      NodeSetting node = nodes.get(i);
      String where = "evenhand.nodes[" + i + "]";
      needs.need(node.name() != null && !node.name().isBlank(), where + ".name is missing");
      needs.need(
          node.tier() != null && names.contains(node.tier()),
          where
              + ".tier is "
              + node.tier()
              + ", which evenhand.tiers does not name; "
              + Spelling.hint(String.valueOf(node.tier()), names));
      needs.need(node.gpus() > 0, where + ".gpus is " + node.gpus() + "; it must be at least 1");
    }
  }

  /** What settings need, looked at one after the other and told all at once. */
  private static final class Needs {
    private final List<String> unmet = new ArrayList<>();

    boolean need(boolean holds, String message) {
      if (!holds) {
        unmet.add(message);
      }
      return holds;
    }

    /** What others need, which throw it. */
    void all(Runnable others) {
      try {
        others.run();
      } catch (IllegalArgumentException e) {
        unmet.add(e.getMessage());
      }
    }

    /**
     * @throws IllegalArgumentException with a line for each that is not met
     */
    void hold() {
      if (!unmet.isEmpty()) {
        throw new IllegalArgumentException(String.join("\n", unmet));
      }
    }
  }

  static void need(boolean holds, String message) {
    if (!holds) {
      throw new IllegalArgumentException(message);
    }
  }
}
