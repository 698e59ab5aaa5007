package evenhand.policy;

import evenhand.facts.Account;
import evenhand.facts.Job;
import evenhand.facts.Snapshot;
import java.time.Instant;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * The queue in a policy's order (Q2 to Q4), kept from one snapshot to the next.
 *
 * <p>What places a job is its own, and never changes, or its account's, which changes all the time.
 * So jobs of one account that are allocated alike stand in one row, in an order that stays; with
 * each snapshot only rows are put in order anew, those who came are put into theirs, and those who
 * are gone leave. Who that is shows by comparing the jobs of two snapshots by identity, for facts
 * never change: whatever the snapshot before was, the order is that of this one.
 */
final class WaitingLine {
  private final Choices.Order order;
  private final boolean usesTree;
  private final boolean usesUsage;
  private List<Job> jobs = List.of();
  private Waiting[] arrived = {};
  private final Map<RowKey, Row> rows = new HashMap<>();
  private final Map<String, Arrivals> arrivals = new HashMap<>();
  private final List<Row> inOrder = new ArrayList<>();
  private Waiting[] line = {};
  private boolean moved;
  private boolean ties;
  private AccountTree tree;

  private record RowKey(String account, boolean allocated) {}

  /** A job that waits, at its place in the line. */
  static final class Waiting extends Choices.Placed {
    private boolean gone;

    /** What it asks for, where answers are remembered. */
    Remembered.Shape shape;

    private Waiting(Job job, Row row) {
      super(job, row.places);
    }
  }

  /** Jobs that never change places among themselves. */
  private static final class Row {
    private final String account;
    private final Choices.Row places;
    private final List<Waiting> inOrder = new ArrayList<>();
    private final List<Waiting> come = new ArrayList<>();
    private boolean left;

    Row(String account, boolean allocated) {
      this.account = account;
      this.places = new Choices.Row(allocated);
    }

    /** Lets those leave who are gone, and those in who came; tells whether there were any. */
    boolean settle(Comparator<Choices.Placed> order) {
      boolean changes = left || !come.isEmpty();
      if (left) {
        inOrder.removeIf(w -> w.gone);
        left = false;
      }
      if (come.size() == 1) {
        int at = Collections.binarySearch(inOrder, come.get(0), order);
        inOrder.add(at < 0 ? -at - 1 : at, come.get(0));
      } else if (!come.isEmpty()) {
        inOrder.addAll(come);
        inOrder.sort(order);
      }
      come.clear();
      return changes;
    }
  }

  /** An account's jobs by when they were queued; those who are gone leave when they are first. */
  private static final class Arrivals {
    private final PriorityQueue<Waiting> byTime =
        new PriorityQueue<>(Comparator.comparing(w -> w.job.queuedAt()));
    private int waiting;

    void come(Waiting w) {
      if (byTime.size() > 2 * waiting + 100) {
        byTime.removeIf(one -> one.gone);
      }
      byTime.add(w);
      waiting++;
    }

    /** When the one came that waits longest; null when none waits. */
    Instant earliest() {
      while (!byTime.isEmpty() && byTime.peek().gone) {
        byTime.poll();
      }
      return byTime.isEmpty() ? null : byTime.peek().job.queuedAt();
    }
  }

  WaitingLine(Choices.Order order) {
    this.order = order;
    this.usesTree = order.usesTree();
    this.usesUsage = order.usesUsage();
  }

  /** Puts in order what waits in this snapshot. */
  void follow(Snapshot snapshot) {
    leave(snapshot.jobs());
    AccountTree before = tree;
    tree = null;
    if (usesTree) {
      tree = new AccountTree(snapshot.accounts(), earliest(snapshot.jobs()));
      if (before != null && !sameBudgets(before, snapshot.accounts())) {
        forget(); // who is allocated may be another now
      }
    }
    come(snapshot.jobs());
    jobs = snapshot.jobs();
    place(snapshot.accounts());
  }

  /** The tree of accounts of the snapshot; null where the order does not look at it. */
  AccountTree tree() {
    return tree;
  }

  int size() {
    return line.length;
  }

  Waiting at(int place) {
    return line[place];
  }

  /** The jobs in their order. */
  List<Job> jobs() {
    Waiting[] now = line;
    return new AbstractList<>() {
      @Override
      public Job get(int place) {
        return now[place].job;
      }

      @Override
      public int size() {
        return now.length;
      }
    };
  }

  /** Lets those leave who wait no more; where others have come instead, nobody has arrived yet. */
  private void leave(List<Job> now) {
    if (now == jobs) {
      return;
    }
    int next = 0;
    for (int i = 0; i < jobs.size(); i++) {
      Waiting w = arrived[i];
      if (next < now.size() && now.get(next) == w.job) {
        arrived[next++] = w;
        continue;
      }
      w.gone = true;
      rows.get(key(w.job, w.row.allocated)).left = true;
      if (usesTree) {
        arrivals.get(w.job.account()).waiting--;
      }
      if (i + 1 < jobs.size() && next + 1 < now.size() && now.get(next + 1) == jobs.get(i + 1)) {
        arrived[next++] = null; // one in its place
      }
    }
    if (arrived.length < now.size()) {
      arrived = Arrays.copyOf(arrived, Math.max(now.size(), arrived.length * 2));
    }
    Arrays.fill(arrived, next, arrived.length, null);
  }

  private RowKey key(Job job, boolean allocated) {
    boolean byAccount = usesUsage || usesTree && allocated;
    return new RowKey(byAccount ? job.account() : null, allocated);
  }

  private Map<String, Instant> earliest(List<Job> now) {
    Map<String, Instant> earliest = new HashMap<>();
    arrivals.forEach(
        (account, of) -> {
          Instant at = of.earliest();
          if (at != null) {
            earliest.put(account, at);
          }
        });
    for (int i = 0; i < now.size(); i++) {
      if (arrived[i] == null) {
        Job job = now.get(i);
        earliest.merge(job.account(), job.queuedAt(), (a, b) -> b.isBefore(a) ? b : a);
      }
    }
    return earliest;
  }

  private boolean sameBudgets(AccountTree before, List<Account> accounts) {
    for (Account a : accounts) {
      if (!before.has(a.id()) || before.share(a.id()) > 0 != tree.share(a.id()) > 0) {
        return false;
      }
    }
    return true;
  }

  private void forget() {
    jobs = List.of();
    Arrays.fill(arrived, null);
    rows.clear();
    arrivals.clear();
    inOrder.clear();
    moved = true;
  }

  private void come(List<Job> now) {
    for (int i = 0; i < now.size(); i++) {
      if (arrived[i] != null) {
        continue;
      }
      Job job = now.get(i);
      boolean allocated = tree == null || OneCycle.allocated(tree, job);
      RowKey key = key(job, allocated);
      Row row = rows.get(key);
      if (row == null) {
        row = new Row(key.account, allocated);
        rows.put(key, row);
        inOrder.add(row);
      }
      Waiting w = new Waiting(job, row);
      arrived[i] = w;
      row.come.add(w);
      if (usesTree) {
        arrivals.computeIfAbsent(job.account(), a -> new Arrivals()).come(w);
      }
    }
  }

  private void place(List<Account> accounts) {
    Map<String, Double> usage = new HashMap<>();
    if (usesUsage) {
      accounts.forEach(a -> usage.put(a.id(), a.cumulativeUsage()));
    }
    List<Row> before = List.copyOf(inOrder);
    for (Row row : inOrder) {
      moved |= row.settle(order.jobs());
      row.places.usage = usage.getOrDefault(row.account, 0.0);
      row.places.rank =
          usesTree && row.places.allocated && !row.inOrder.isEmpty() ? tree.rank(row.account) : 0;
    }
    inOrder.removeIf(
        row -> {
          boolean empty = row.inOrder.isEmpty();
          if (empty) {
            rows.remove(new RowKey(row.account, row.places.allocated));
          }
          return empty;
        });
    inOrder.sort((a, b) -> order.rows().compare(a.places, b.places));
    boolean tied = false;
    for (int i = 1; i < inOrder.size(); i++) {
      tied |= tie(i - 1, i);
    }
    if (moved || tied || ties || !before.equals(inOrder)) {
      concatenate();
    }
    moved = false;
    ties = tied;
  }

  private boolean tie(int one, int other) {
    return order.rows().compare(inOrder.get(one).places, inOrder.get(other).places) == 0;
  }

  /** Row after row; rows that stand alike are one. */
  private void concatenate() {
    line = new Waiting[jobs.size()];
    int length = 0;
    int from = 0;
    for (int i = 0; i < inOrder.size(); i++) {
      for (Waiting w : inOrder.get(i).inOrder) {
        line[length++] = w;
      }
      boolean last = i + 1 == inOrder.size() || !tie(i, i + 1);
      if (last && from < i) {
        int first = length;
        for (int k = from; k <= i; k++) {
          first -= inOrder.get(k).inOrder.size();
        }
        Arrays.sort(line, first, length, order.jobs());
      }
      from = last ? i + 1 : from;
    }
  }
}
