package evenhand.reference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import evenhand.facts.Account;
import evenhand.facts.Job;
import evenhand.facts.Snapshot;
import evenhand.policy.AccountTree;
import evenhand.policy.Ordering;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What is said about the order is true of it: any two jobs of any queue, on random trees. */
class OrderExplainedTest {

  @Test
  void whatTellsTwoJobsApartIsWhatOrdersThemInATree() throws PolicyFault {
    Policy policy = Policies.load(Optional.empty(), "budget", Map.of());
    Set<String> keys = new HashSet<>();
    Set<AccountTree.Cause> causes = EnumSet.noneOf(AccountTree.Cause.class);
    for (long seed = 1; seed <= 600; seed++) {
      Snapshot snapshot = BudgetSnapshots.of(seed, "budget");
      Ordering ordering = policy.ordering(snapshot);
      List<Job> order = ordering.jobs();
      assertThat(order).isEqualTo(policy.order(snapshot));
      Tree tree = new Tree(snapshot);
      for (Job job : order) {
        tree.checkPath(job, ordering.path(job));
      }
      for (int i = 0; i < order.size(); i++) {
        for (int j = 0; j < order.size(); j++) {
          if (i == j) {
            continue;
          }
          Ordering.Parting p = ordering.parting(order.get(i), order.get(j));
          keys.add(p.key());
          assertThat(p.first()).as("seed %s", seed).isEqualTo(order.get(Math.min(i, j)));
          assertThat(p.second()).isEqualTo(order.get(Math.max(i, j)));
          tree.check(p);
          if (p.fork() != null) {
            causes.add(p.fork().cause());
          }
        }
      }
    }
    assertThat(keys)
        .containsExactlyInAnyOrder("allocated", "account_tree", "priority", "queued_at", "id");
    assertThat(causes).isEqualTo(EnumSet.allOf(AccountTree.Cause.class));
  }

  @Test
  void whatTellsTwoJobsApartIsWhatOrdersThemByUsage() throws PolicyFault {
    Policy policy = Policies.load(Optional.empty(), "reservation", Map.of());
    for (long seed = 1; seed <= 200; seed++) {
      Snapshot snapshot = RandomSnapshots.of(seed);
      Ordering ordering = policy.ordering(snapshot);
      List<Job> order = ordering.jobs();
      Map<String, Double> used = new HashMap<>();
      snapshot.accounts().forEach(a -> used.put(a.id(), a.cumulativeUsage()));
      for (int i = 0; i + 1 < order.size(); i++) {
        Job a = order.get(i);
        Job b = order.get(i + 1);
        Ordering.Parting p = ordering.parting(b, a);
        assertThat(p.first()).isEqualTo(a);
        assertThat(ordering.path(a)).isEmpty();
        switch (p.key()) {
          case "account_usage" -> {
            assertThat(p.ofFirst()).isEqualTo(used.get(a.account()));
            assertThat((Double) p.ofFirst()).isLessThan(used.get(b.account()));
          }
          case "queued_at" -> assertThat(a.queuedAt()).isBefore(b.queuedAt());
          default -> {
            assertThat(p.key()).isEqualTo("id");
            assertThat(a.queuedAt()).isEqualTo(b.queuedAt());
          }
        }
      }
    }
  }

  /** A3 and Q3 worked out anew, in the plainest way. */
  private static final class Tree {
    private final Map<String, Account> accounts = new HashMap<>();
    private final Map<String, Double> usage = new HashMap<>();

    Tree(Snapshot snapshot) {
      snapshot.accounts().forEach(a -> accounts.put(a.id(), a));
      for (Account a : snapshot.accounts()) {
        for (Account at = a; at != null; at = accounts.get(at.parent())) {
          usage.merge(at.id(), a.windowUsage(), Double::sum);
        }
      }
    }

    List<String> path(String account) {
      List<String> path = new ArrayList<>();
      for (Account at = accounts.get(account); at != null; at = accounts.get(at.parent())) {
        path.add(0, at.id());
      }
      return path;
    }

    double ratio(String id) {
      Account account = accounts.get(id);
      double used = 0;
      double weights = 0;
      for (Account a : accounts.values()) {
        if (java.util.Objects.equals(a.parent(), account.parent())) {
          used += usage.get(a.id());
          weights += a.weight();
        }
      }
      return used == 0 ? 0 : usage.get(id) / used / (account.weight() / weights);
    }

    boolean allocated(Job job) {
      return job.minRuntimeSeconds() > 0
          && path(job.account()).stream().allMatch(id -> accounts.get(id).weight() > 0);
    }

    void checkPath(Job job, List<AccountTree.Step> steps) {
      assertThat(steps.stream().map(AccountTree.Step::account).toList())
          .isEqualTo(allocated(job) ? path(job.account()) : List.of());
      for (AccountTree.Step step : steps) {
        double ratio = ratio(step.account());
        assertThat(step.ratio()).isCloseTo(ratio, within(1e-9 * (1 + ratio)));
        if (step.usageShare() > 0) {
          assertThat(step.usageShare() / step.weightShare())
              .isCloseTo(ratio, within(1e-9 * (1 + ratio)));
        }
      }
    }

    void check(Ordering.Parting p) {
      Job a = p.first();
      Job b = p.second();
      if (p.key().equals("allocated")) {
        assertThat(allocated(a)).isTrue();
        assertThat(allocated(b)).isFalse();
        return;
      }
      assertThat(allocated(a)).isEqualTo(allocated(b));
      if (p.key().equals("account_tree")) {
        check(p.fork(), path(a.account()), path(b.account()));
        return;
      }
      if (allocated(a)) {
        assertThat(a.account()).isEqualTo(b.account());
      }
      if (p.key().equals("priority")) {
        assertThat(a.priority()).isGreaterThan(b.priority());
        assertThat(allocated(a)).isTrue();
      } else if (p.key().equals("queued_at")) {
        assertThat(a.queuedAt()).isBefore(b.queuedAt());
      } else {
        assertThat(a.queuedAt()).isEqualTo(b.queuedAt());
      }
    }

    private void check(AccountTree.Fork f, List<String> first, List<String> second) {
      if (f.cause() == AccountTree.Cause.ABOVE) {
        assertThat(second.subList(0, first.size())).isEqualTo(first);
        return;
      }
      int at = 0;
      while (first.get(at).equals(second.get(at))) {
        at++;
      }
      assertThat(f.above()).isEqualTo(at == 0 ? null : first.get(at - 1));
      assertThat(f.first().account()).isEqualTo(first.get(at));
      assertThat(f.second().account()).isEqualTo(second.get(at));
      double one = ratio(first.get(at));
      double other = ratio(second.get(at));
      assertThat(f.first().ratio()).isLessThanOrEqualTo(f.second().ratio());
      if (f.cause() == AccountTree.Cause.RATIO) {
        assertThat(one).isLessThan(other + 1e-12 * other);
      } else {
        assertThat(one).isCloseTo(other, within(1e-9 * (1 + other)));
      }
      if (f.cause() == AccountTree.Cause.LONGEST_WAITING) {
        assertThat(f.earliest()).isBefore(f.secondEarliest());
      }
    }
  }
}
