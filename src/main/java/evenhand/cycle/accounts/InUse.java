package evenhand.cycle.accounts;

import evenhand.facts.Account;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The accounts that a cycle reads: those in the tree, and retired ones that still have work. What
 * other retired ones have used stays with the branch that used it: it counts as their nearest
 * account's above.
 *
 * @param accounts parents are among them
 * @param used charged run time within the window, by account
 */
public record InUse(List<Account> accounts, Map<String, GpuTime> used) {

  /**
   * @param all every account there is
   * @param retired ids of those that are
   * @param withWork ids of those with jobs that are not over
   * @param used by account, within the window
   */
  public static InUse of(
      List<Account> all, Set<String> retired, Set<String> withWork, Map<String, GpuTime> used) {
    if (retired.isEmpty()) {
      return new InUse(all, used);
    }
    Map<String, Account> byId = new HashMap<>();
    all.forEach(a -> byId.put(a.id(), a));
    Set<String> kept = new HashSet<>();
    for (Account account : all) {
      if (!retired.contains(account.id()) || withWork.contains(account.id())) {
        for (Account a = account; a != null && kept.add(a.id()); a = byId.get(a.parent())) {
          // all that is above it is kept too
        }
      }
    }
    Map<String, GpuTime> folded = new HashMap<>();
    used.forEach(
        (id, time) -> {
          Account to = byId.get(id);
          while (to != null && !kept.contains(to.id())) {
            to = byId.get(to.parent());
          }
          if (to != null) {
            folded.computeIfAbsent(to.id(), a -> new GpuTime()).add(time);
          }
        });
    List<Account> accounts = new ArrayList<>();
    for (Account account : all) {
      if (kept.contains(account.id())) {
        accounts.add(account);
      }
    }
    return new InUse(accounts, folded);
  }
}
