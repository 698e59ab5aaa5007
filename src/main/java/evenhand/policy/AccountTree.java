package evenhand.policy;

import evenhand.facts.Account;
import evenhand.facts.Job;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The account tree at one moment: shares, ratios, and who ranks behind whom (A1, A3, Q3).
 *
 * <p>A node's usage is its own and that of all below it, within the window. Its ratio compares its
 * part of what it and its siblings used with its part of their weights: 1 is just its budget, less
 * is under-served. Where nobody has used anything, every ratio is 0.
 */
public final class AccountTree {
  private final Map<String, Node> nodes = new LinkedHashMap<>();
  private final Node root = new Node("", Double.NaN);

  private static final class Node {
    final String id;
    final double weight;
    final List<Node> children = new ArrayList<>();
    Node parent;
    double usage;
    double share = 1;
    double ratio;
    double usageShare;
    double weightShare;
    // What places it among its siblings. The ratio multiplies it by what is the same for all of
    // them, so that it never says otherwise; but it may round a difference away.
    double usedByWeight;
    Instant earliest = Instant.MAX;
    int rank = -1;
    int depth;

    Node(String id, double weight) {
      this.id = id;
      this.weight = weight;
    }
  }

  /**
   * One step down the tree: an account and what placed it among its siblings.
   *
   * @param usage its own and that of all below it, within the window
   * @param usageShare its part of what it and its siblings have used, 0 where none has used
   *     anything
   * @param weightShare its part of their weights
   * @param ratio of the two; infinite without weight
   */
  public record Step(
      String account, double usage, double usageShare, double weightShare, double ratio) {}

  /** Why one of two branches comes first. */
  public enum Cause {
    /** It has used less for its weight. */
    RATIO,
    /** Both are served alike, and the job that waits longest is in it. */
    LONGEST_WAITING,
    /** Both are served alike, their longest waiting jobs came together: the lower name. */
    NAME,
    /** It is not another branch: the account lies above the other's. */
    ABOVE
  }

  /**
   * Where the paths of two accounts part.
   *
   * @param above the account below which they part, null at the top of the tree
   * @param first the branch that is served first, {@code second} the other; where one account lies
   *     above the other, the two accounts themselves
   * @param earliest when the job of {@code first} arrived that waits longest, {@code
   *     secondEarliest} that of the other; null where none waits
   */
  public record Fork(
      String above,
      Step first,
      Step second,
      Cause cause,
      Instant earliest,
      Instant secondEarliest) {}

  /**
   * @param queue jobs whose arrival breaks ties between accounts that are served alike: the subtree
   *     that waits longest comes first
   */
  public AccountTree(List<Account> accounts, List<Job> queue) {
    this(accounts, earliest(queue));
  }

  /**
   * @param earliest by account, when the job arrived that waits longest there
   */
  AccountTree(List<Account> accounts, Map<String, Instant> earliest) {
    for (Account a : accounts) {
      Node node = new Node(a.id(), a.weight());
      node.usage = a.windowUsage();
      nodes.put(a.id(), node);
    }
    for (Account a : accounts) {
      Node node = nodes.get(a.id());
      Node parent = a.parent() == null ? root : nodes.getOrDefault(a.parent(), root);
      node.parent = parent;
      parent.children.add(node);
    }
    earliest.forEach(
        (account, at) -> {
          for (Node n = nodes.get(account); n != null; n = n.parent) {
            if (at.isBefore(n.earliest)) {
              n.earliest = at;
            }
          }
        });
    sum(root);
    int[] next = {0};
    place(root, next);
  }

  private static Map<String, Instant> earliest(List<Job> queue) {
    Map<String, Instant> earliest = new HashMap<>();
    for (Job job : queue) {
      earliest.merge(job.account(), job.queuedAt(), (a, b) -> b.isBefore(a) ? b : a);
    }
    return earliest;
  }

  private static final Comparator<Node> SERVED_FIRST =
      Comparator.<Node>comparingDouble(n -> n.usedByWeight)
          .thenComparing(n -> n.earliest)
          .thenComparing(n -> n.id);

  private static double sum(Node node) {
    for (Node child : node.children) {
      node.usage += sum(child);
    }
    return node.usage;
  }

  private static void place(Node node, int[] next) {
    node.rank = next[0]++;
    node.depth = node.parent == null ? 0 : node.parent.depth + 1;
    double used = 0;
    double weights = 0;
    for (Node child : node.children) {
      used += child.usage;
      weights += child.weight;
    }
    for (Node child : node.children) {
      child.share = weights > 0 ? node.share * child.weight / weights : 0;
      child.usageShare = used > 0 ? child.usage / used : 0;
      child.weightShare = weights > 0 ? child.weight / weights : 0;
      child.usedByWeight =
          child.weight <= 0 ? Double.POSITIVE_INFINITY : child.usage / child.weight;
      child.ratio =
          child.weight <= 0
              ? Double.POSITIVE_INFINITY
              : used > 0 ? child.usedByWeight * (weights / used) : 0;
    }
    node.children.sort(SERVED_FIRST);
    node.children.forEach(child -> place(child, next));
  }

  private Node node(String account) {
    Node node = nodes.get(account);
    if (node == null) {
      throw new RuleFailed("account " + account + " is not in the snapshot");
    }
    return node;
  }

  boolean has(String account) {
    return nodes.containsKey(account);
  }

  /** Where the account stands in the order of service: 0 is served first. */
  int rank(String account) {
    return node(account).rank;
  }

  /** Its part of the whole cluster, 0 to 1: the product of its weights down the tree (A1). */
  public double share(String account) {
    return node(account).share;
  }

  public boolean hasChildren(String account) {
    return !node(account).children.isEmpty();
  }

  private static Step step(Node n) {
    return new Step(n.id, n.usage, n.usageShare, n.weightShare, n.ratio);
  }

  /** How the account stands among its siblings. */
  public Step step(String account) {
    return step(node(account));
  }

  /** The ratios from the top of the tree down to the account. */
  public List<Step> path(String account) {
    List<Step> path = new ArrayList<>();
    for (Node n = node(account); n != root; n = n.parent) {
      path.add(0, step(n));
    }
    return path;
  }

  /** Where the paths of two accounts part, and why one of them is served first. */
  public Fork fork(String one, String other) {
    Node[] parting = parting(one, other);
    if (parting == null) {
      Node a = node(one);
      Node b = node(other);
      if (a == b) {
        throw new IllegalArgumentException("no path parts from itself: " + one);
      }
      return fork(a.depth < b.depth ? a : b, a.depth < b.depth ? b : a, Cause.ABOVE);
    }
    boolean inOrder = SERVED_FIRST.compare(parting[0], parting[1]) < 0;
    Node first = parting[inOrder ? 0 : 1];
    Node second = parting[inOrder ? 1 : 0];
    return fork(
        first,
        second,
        first.usedByWeight < second.usedByWeight
            ? Cause.RATIO
            : first.earliest.isBefore(second.earliest) ? Cause.LONGEST_WAITING : Cause.NAME);
  }

  private Fork fork(Node first, Node second, Cause cause) {
    Node above = cause == Cause.ABOVE ? first : first.parent;
    return new Fork(
        above == root ? null : above.id,
        step(first),
        step(second),
        cause,
        first.earliest.equals(Instant.MAX) ? null : first.earliest,
        second.earliest.equals(Instant.MAX) ? null : second.earliest);
  }

  /**
   * Whether {@code b} ranks behind {@code a}: where their paths part, b's branch has the higher
   * ratio.
   */
  boolean behind(String b, String a) {
    return rivals(a, List.of(b)).behind(0);
  }

  /**
   * Whether {@code b} would still rank behind {@code a} when {@code a} had used {@code more} (in
   * the unit of the window's usage) beside what it has, by at least {@code margin} (0.05 is 5 %)
   * (K5).
   */
  boolean behindAfter(String b, String a, double more, double margin) {
    return rivals(a, List.of(b)).behindAfter(0, more, margin);
  }

  /** How each of these accounts stands to {@code a}: by where its path and theirs part. */
  Rivals rivals(String a, List<String> others) {
    return new Rivals(others.stream().map(b -> parting(b, a)).toArray(Node[][]::new));
  }

  /** How some accounts stand to one of which much is asked. */
  static final class Rivals {
    private final Node[][] partings;

    private Rivals(Node[][] partings) {
      this.partings = partings;
    }

    /** {@link AccountTree#behind}, of the account of this number. */
    boolean behind(int number) {
      Node[] parting = partings[number];
      return parting != null && parting[0].usedByWeight > parting[1].usedByWeight;
    }

    /** {@link AccountTree#behindAfter}, of the account of this number. */
    boolean behindAfter(int number, double more, double margin) {
      Node[] parting = partings[number];
      if (parting == null || parting[1].weight <= 0) {
        return false;
      }
      if (parting[0].weight <= 0) {
        return true;
      }
      // The siblings' sum and the sum of weights divide both sides alike.
      double usedByB = parting[0].usage / parting[0].weight;
      double usedByA = (parting[1].usage + more) / parting[1].weight;
      return usedByB > usedByA * (1 + margin);
    }
  }

  /** The two branches where the paths of the accounts part; null where they do not. */
  private Node[] parting(String ofB, String ofA) {
    Node b = node(ofB);
    Node a = node(ofA);
    while (b.depth > a.depth) {
      b = b.parent;
    }
    while (a.depth > b.depth) {
      a = a.parent;
    }
    if (a == b) {
      return null;
    }
    while (a.parent != b.parent) {
      a = a.parent;
      b = b.parent;
    }
    return new Node[] {b, a};
  }
}
