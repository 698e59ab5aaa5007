package evenhand.cycle.accounts;

import evenhand.facts.Account;
import evenhand.policy.AccountTree;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * What changes when the tree becomes another one.
 *
 * @param changes in the order in which they are to be written
 * @param shares of accounts whose share of the cluster changes, in the order of the new tree
 * @param notes what else people should know before they say yes
 * @param version of the tree the plan was made on: the newest change it knows
 */
public record TreePlan(
    List<AccountChange> changes, List<ShareChange> shares, List<String> notes, long version) {

  /**
   * An account's share of the whole cluster, 0 to 1.
   *
   * @param was 0 for one that is new
   */
  public record ShareChange(String account, double was, double becomes) {}

  /** An account as somebody wrote it down. */
  public record Wanted(
      String id, String parent, double weight, List<String> owners, List<String> users) {
    public Wanted {
      owners = owners.stream().distinct().sorted().toList();
      users = users.stream().distinct().sorted().toList();
    }
  }

  /**
   * @param before all accounts there are, retired ones too
   * @param wanted the whole tree, parents before their children
   * @param open how many jobs that are not over each account has
   */
  static TreePlan of(
      List<AccountBook.Entry> before,
      List<Wanted> wanted,
      Map<String, Integer> open,
      Instant at,
      String by,
      String reason,
      long version) {
    Map<String, AccountBook.Entry> old = new LinkedHashMap<>();
    before.forEach(e -> old.put(e.id(), e));
    Set<String> kept = new HashSet<>();
    Set<String> parents = new HashSet<>();
    List<AccountChange> placed = new ArrayList<>();
    List<AccountChange> named = new ArrayList<>();
    List<String> notes = new ArrayList<>();
    for (Wanted w : wanted) {
      kept.add(w.id());
      parents.add(w.parent());
      Writer writer = new Writer(w.id(), w.parent(), at, by, reason);
      AccountBook.Entry e = old.get(w.id());
      String weight = AccountChange.text(w.weight());
      if (e == null) {
        placed.add(writer.change(AccountChange.Kind.ADDED, null, weight));
      } else {
        if (e.retired()) {
          placed.add(writer.change(AccountChange.Kind.RESTORED, AccountChange.text(0), weight));
        }
        if (!Objects.equals(e.parent(), w.parent())) {
          placed.add(writer.change(AccountChange.Kind.MOVED, e.parent(), w.parent()));
        }
        if (!e.retired() && e.weight() != w.weight()) {
          placed.add(
              writer.change(AccountChange.Kind.WEIGHT, AccountChange.text(e.weight()), weight));
        }
      }
      writer.names(
          AccountChange.Kind.OWNERS, e == null ? List.of() : e.owners(), w.owners(), named);
      writer.names(AccountChange.Kind.USERS, e == null ? List.of() : e.users(), w.users(), named);
    }
    for (AccountBook.Entry e : before) {
      int jobs = open.getOrDefault(e.id(), 0);
      if (!kept.contains(e.id()) && !e.retired()) {
        Writer writer = new Writer(e.id(), e.parent(), at, by, reason);
        placed.add(writer.change(AccountChange.Kind.RETIRED, AccountChange.text(e.weight()), null));
        // Its users go elsewhere: they must not be taken from there again.
        writer.names(AccountChange.Kind.USERS, e.users(), List.of(), placed);
        if (jobs > 0) {
          notes.add(
              jobs(jobs) + " of " + e.id() + ", which is retired: they go on without a budget");
        }
      } else if (parents.contains(e.id()) && jobs > 0) {
        notes.add(
            jobs(jobs)
                + " of "
                + e.id()
                + ", which has accounts below it: they go on, ahead of those; it takes no new ones"
                + " (A1)");
      }
    }
    placed.addAll(named);
    return new TreePlan(placed, shares(before, wanted), notes, version);
  }

  private static String jobs(int count) {
    return count == 1 ? "1 job waits or runs" : count + " jobs wait or run";
  }

  private record Writer(String id, String parent, Instant at, String by, String reason) {
    AccountChange change(AccountChange.Kind kind, String was, String became) {
      return new AccountChange(0, at, id, kind, was, became, parent, by, reason);
    }

    void names(
        AccountChange.Kind kind, List<String> was, List<String> became, List<AccountChange> to) {
      if (!was.equals(became)) {
        to.add(change(kind, AccountChange.text(was), AccountChange.text(became)));
      }
    }
  }

  private static List<ShareChange> shares(List<AccountBook.Entry> before, List<Wanted> wanted) {
    List<Account> now = new ArrayList<>();
    before.forEach(e -> now.add(new Account(e.id(), e.parent(), e.weight(), 0, 0)));
    List<Account> then = new ArrayList<>();
    wanted.forEach(w -> then.add(new Account(w.id(), w.parent(), w.weight(), 0, 0)));
    AccountTree treeNow = new AccountTree(now, List.of());
    AccountTree treeThen = new AccountTree(then, List.of());
    Set<String> known = new HashSet<>();
    before.forEach(e -> known.add(e.id()));
    Set<String> kept = new HashSet<>();
    List<ShareChange> shares = new ArrayList<>();
    for (Wanted w : wanted) {
      kept.add(w.id());
      double was = known.contains(w.id()) ? treeNow.share(w.id()) : 0;
      double becomes = treeThen.share(w.id());
      if (was != becomes) {
        shares.add(new ShareChange(w.id(), was, becomes));
      }
    }
    for (AccountBook.Entry e : before) {
      if (!kept.contains(e.id()) && !e.retired() && treeNow.share(e.id()) != 0) {
        shares.add(new ShareChange(e.id(), treeNow.share(e.id()), 0));
      }
    }
    return shares;
  }
}
