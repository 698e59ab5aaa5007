package evenhand.policy;

import evenhand.facts.Account;
import evenhand.facts.Placement;
import evenhand.facts.PlacementGroup;
import evenhand.facts.Request;
import evenhand.facts.Tier;
import evenhand.outcomes.Admission;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
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
  private final Set<String> seen;
  private final Map<Asked, Admission> known = new HashMap<>();

  private record Asked(
      Request request,
      List<Object> accounts,
      List<Tier> tiers,
      Map<PlacementGroup, Integer> there) {}

  Admissions(Policy policy, Loaded loaded) {
    this.policy = policy;
    Set<String> named = loaded.names(stage -> stage == Stage.FIT || stage == Stage.ADMISSION);
    // Whether it is allocated hangs on these two, whatever rules name.
    this.seen = new HashSet<>(named);
    seen.addAll(List.of("account", "minRuntimeSeconds"));
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
    Asked asked = new Asked(request.seen(seen), tree(accounts), tiers, inventory(placements));
    Admission answer = known.get(asked);
    if (answer == null) {
      answer = policy.admit(request, accounts, tiers, placements);
      known.put(asked, answer);
    }
    return answer;
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
