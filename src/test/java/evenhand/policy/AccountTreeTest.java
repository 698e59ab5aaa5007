package evenhand.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import evenhand.facts.Account;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A1, A3, K5 on trees whose figures can be worked out on paper. */
class AccountTreeTest {

  private static Account account(String id, String parent, double weight, double used) {
    return new Account(id, parent, weight, 0, used);
  }

  @Test
  void sharesAreProductsDownTheTree() {
    // The figure of the source: project A1 owns 35 % whatever others queue.
    AccountTree tree =
        new AccountTree(
            List.of(
                account("A", null, 70, 0),
                account("B", null, 30, 0),
                account("A1", "A", 1, 0),
                account("A2", "A", 1, 0),
                account("B1", "B", 0, 0),
                account("B2", "B", 3, 0)),
            List.of());
    assertEquals(0.35, tree.share("A1"), 1e-12);
    assertEquals(0.35, tree.share("A2"), 1e-12);
    assertEquals(0, tree.share("B1"), 0);
    assertEquals(0.3, tree.share("B2"), 1e-12);
  }

  @Test
  void ratiosCompareUsageWithShareAmongSiblings() {
    AccountTree tree =
        new AccountTree(
            List.of(account("A", null, 3, 3600), account("B", null, 1, 3600)), List.of());
    // A used half and owns three quarters; B used half and owns one.
    assertEquals(2 / 3.0, tree.path("A").get(0).ratio(), 1e-12);
    assertEquals(2, tree.path("B").get(0).ratio(), 1e-12);
    assertTrue(tree.behind("B", "A"));
    assertFalse(tree.behind("A", "B"));
  }

  @Test
  void usageInProportionToWeightsIsATie() {
    // Divided by sums, 49 equal quotients would not all come out alike.
    for (int w = 1; w < 50; w++) {
      AccountTree tree =
          new AccountTree(
              List.of(
                  account("A", null, w, 3600.0 * w),
                  account("B", null, 49, 3600.0 * 49),
                  account("C", null, 3, 12_345)),
              List.of());
      assertFalse(tree.behind("A", "B"), "weight " + w);
      assertFalse(tree.behind("B", "A"), "weight " + w);
    }
  }

  @Test
  void whereAccountsPartDecides() {
    AccountTree tree =
        new AccountTree(
            List.of(
                account("P", null, 1, 0),
                account("Q", null, 1, 0),
                account("P1", "P", 1, 7200),
                account("P2", "P", 1, 0),
                account("Q1", "Q", 1, 3600)),
            List.of());
    // P2 has used nothing, and yet is behind Q1: its project has used twice as much as Q.
    assertTrue(tree.behind("P2", "Q1"));
    assertTrue(tree.behind("P1", "P2"));
    assertFalse(tree.behind("P", "P1"), "one above the other: they do not part");
  }

  @Test
  void marginAndMinimumAreAddedToTheTaker() {
    AccountTree tree =
        new AccountTree(
            List.of(account("A", null, 1, 10_000), account("B", null, 1, 20_000)), List.of());
    assertTrue(tree.behindAfter("B", "A", 9_999, 0));
    assertFalse(tree.behindAfter("B", "A", 10_000, 0), "level is not behind");
    assertTrue(tree.behindAfter("B", "A", 9_000, 0.05));
    assertFalse(tree.behindAfter("B", "A", 9_048, 0.05), "19,048 x 1.05 is above 20,000");
  }
}
