package evenhand.policy;

import evenhand.facts.Account;
import evenhand.facts.Placement;
import evenhand.facts.PlacementGroup;
import evenhand.facts.Request;
import evenhand.facts.Tier;
import evenhand.outcomes.Admission;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Answers to submissions that were asked before. Rules are pure: all that those of fit and
 * admission can tell apart is in the key, the request as far as they name its parts, the tree of
 * accounts, and the inventory. Where they look at what accounts have used, or at nodes by name,
 * nothing is kept.
 */
final class Admissions implements Policy.Admitting {
  private static final int MOST = 100_000;

  private final Policy policy;
  private final boolean keeps;
  private final Set<String> named;
  private final Map<Asked, Admission> known = new HashMap<>();

  private record Asked(
      Request request, List<Object> accounts, List<Tier> tiers, Map<PlacementGroup, Integer> there) {}

  Admissions(Policy policy, Loaded loaded) {
    this.policy = policy;
    this.named = loaded.names(stage -> stage == Stage.FIT || stage == Stage.ADMISSION);
    this.keeps =
        List.of("windowUsage", "cumulativeUsage", "node", "Moment").stream()
            .noneMatch(named::contains);
  }

  @Override
  public Admission admit(
      Request request, List<Account> accounts, List<Tier> tiers, List<Placement> placements) {
    if (!keeps) {
      return policy.admit(request, accounts, tiers, placements);
    }
    if (known.size() >= MOST) {
      known.clear();
    }
    Asked asked = new Asked(seen(request), tree(accounts), tiers, inventory(placements));
    Admission answer = known.get(asked);
    if (answer == null) {
      answer = policy.admit(request, accounts, tiers, placements);
      known.put(asked, answer);
    }
    return answer;
  }

  /** The request without what no rule of these stages names; its account places it in the tree. */
  private Request seen(Request r) {
    return new Request(
        r.nodes(),
        r.numGpus(),
        r.tier(),
        r.minimumTierSortOrder(),
        named.contains("job") ? r.job() : null,
        r.account(),
        named.contains("user") ? r.user() : null,
        r.role(),
        named.contains("priority") ? r.priority() : 0,
        r.minRuntimeSeconds(),
        named.contains("resumable") && r.resumable(),
        named.contains("attempt") ? r.attempt() : 0,
        r.allocated(),
        named.contains("preemptible") && r.preemptible());
  }

  private static List<Object> tree(List<Account> accounts) {
    List<Object> tree = new ArrayList<>(accounts.size() * 3);
    for (Account a : accounts) {
      tree.add(a.id());
      tree.add(a.parent());
      tree.add(a.weight());
    }
    return tree;
  }

  private static Map<PlacementGroup, Integer> inventory(List<Placement> placements) {
    Map<PlacementGroup, Integer> there = new HashMap<>();
    placements.forEach(p -> there.merge(p.group(), 1, Integer::sum));
    return there;
  }
}
