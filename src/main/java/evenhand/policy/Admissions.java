package evenhand.policy;

import evenhand.facts.Account;
import evenhand.facts.Placement;
import evenhand.facts.PlacementGroup;
import evenhand.facts.Request;
import evenhand.facts.Tier;
import evenhand.outcomes.Admission;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Answers to submissions that were asked before. Rules are pure: all that those of fit and
 * admission can tell apart is the request, as far as they name its parts, the tree of accounts, and
 * the inventory; while the last two stay the same, answers are kept by the first. Where rules look
 * at what accounts have used, or at nodes by name, nothing is kept.
 */
final class Admissions implements Policy.Admitting {
  private static final int MOST = 100_000;

  private final Policy policy;
  private final boolean keeps;
  private final Set<String> seen;
  private final Map<Request, Admission> known = new HashMap<>();
  private List<Account> accounts = List.of();
  private List<Tier> tiers = List.of();
  private List<PlacementGroup> inventory = List.of();

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
      Request request, List<Account> accountsNow, List<Tier> tiersNow, List<Placement> placements) {
    if (!keeps) {
      return policy.admit(request, accountsNow, tiersNow, placements);
    }
    if (known.size() >= MOST
        || !tiers.equals(tiersNow)
        || !sameTree(accountsNow)
        || !sameInventory(placements)) {
      known.clear();
      accounts = List.copyOf(accountsNow);
      tiers = List.copyOf(tiersNow);
      inventory = placements.stream().map(Placement::group).toList();
    }
    Request asked = request.seen(seen);
    Admission answer = known.get(asked);
    if (answer == null) {
      answer = policy.admit(request, accountsNow, tiersNow, placements);
      known.put(asked, answer);
    }
    return answer;
  }

  private boolean sameTree(List<Account> now) {
    if (now.size() != accounts.size()) {
      return false;
    }
    for (int i = 0; i < now.size(); i++) {
      Account a = now.get(i);
      Account before = accounts.get(i);
      if (!a.id().equals(before.id())
          || !Objects.equals(a.parent(), before.parent())
          || a.weight() != before.weight()) {
        return false;
      }
    }
    return true;
  }

  private boolean sameInventory(List<Placement> now) {
    if (now.size() != inventory.size()) {
      return false;
    }
    for (int i = 0; i < now.size(); i++) {
      PlacementGroup group = now.get(i).group();
      if (group != inventory.get(i) && !group.equals(inventory.get(i))) {
        return false;
      }
    }
    return true;
  }
}
