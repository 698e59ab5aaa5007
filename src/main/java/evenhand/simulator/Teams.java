package evenhand.simulator;

import evenhand.cycle.AccountSetup;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The teams of a tree of accounts: the accounts of the highest level that has more than one. A
 * single root, and what stands alone below it, is the whole cluster's and no team.
 */
final class Teams {
  private final List<String> names = new ArrayList<>();
  private final Map<String, Integer> ofAccount = new LinkedHashMap<>();

  /**
   * @param accounts parents before their children
   */
  Teams(List<AccountSetup> accounts) {
    String above = null;
    while (true) {
      List<AccountSetup> level = children(accounts, above);
      if (level.size() != 1 || children(accounts, level.get(0).id()).isEmpty()) {
        break;
      }
      above = level.get(0).id();
    }
    for (AccountSetup account : accounts) {
      Integer team = account.parent() == null ? null : ofAccount.get(account.parent());
      if (team == null && java.util.Objects.equals(account.parent(), above)) {
        team = names.size();
        names.add(account.id());
      }
      if (team != null) {
        ofAccount.put(account.id(), team);
      }
    }
    // Work may be charged to an account that has children; one above all teams is shown as itself.
    for (AccountSetup account : accounts) {
      if (!ofAccount.containsKey(account.id())) {
        ofAccount.put(account.id(), names.size());
        names.add(account.id());
      }
    }
  }

  private static List<AccountSetup> children(List<AccountSetup> accounts, String parent) {
    return accounts.stream().filter(a -> java.util.Objects.equals(a.parent(), parent)).toList();
  }

  List<String> names() {
    return List.copyOf(names);
  }

  /** The number of the account's team among {@link #names}. */
  int of(String account) {
    return ofAccount.get(account);
  }
}
