package evenhand.cycle.accounts;

import evenhand.cycle.Desk;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Whose accounts are whose to change (A2). The one place where that is decided: whoever knows who
 * is asking hands the name in.
 */
public final class AccountRights {

  /**
   * Lets an owner of the account, or of one above it, set the weights of what is below it.
   *
   * @param accounts all there are, by id
   * @throws Desk.Refused with code {@code FORBIDDEN}, naming who could
   */
  public void mustOwn(String user, String account, Map<String, AccountBook.Entry> accounts) {
    Map<String, List<String>> could = new LinkedHashMap<>();
    for (AccountBook.Entry at = accounts.get(account);
        at != null;
        at = at.parent() == null ? null : accounts.get(at.parent())) {
      if (at.owners().contains(user)) {
        return;
      }
      if (!at.owners().isEmpty()) {
        could.put(at.id(), at.owners());
      }
    }
    throw new Desk.Refused(
        "FORBIDDEN",
        "by",
        "A2",
        could.isEmpty()
            ? "nobody owns "
                + account
                + " or an account above it, so nobody may set weights below it; a tree that is"
                + " applied names owners"
            : user
                + " owns neither "
                + account
                + " nor an account above it; the weights below it may be set by "
                + could.entrySet().stream()
                    .map(e -> String.join(", ", e.getValue()) + " (owner of " + e.getKey() + ")")
                    .collect(Collectors.joining(", ")));
  }
}
