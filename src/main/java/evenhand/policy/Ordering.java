package evenhand.policy;

import evenhand.facts.Job;
import java.util.List;
import java.util.Map;

/** The queue of one snapshot in a policy's order, and what put it so (Q2, Q3). */
public interface Ordering {

  /** First of the queue first. */
  List<Job> jobs();

  /** The figures that place a job, by key, e.g. {@code account_usage}. */
  Map<String, Object> figures(Job job);

  /**
   * The ratios that placed a job, from the top of the account tree down; empty where the order does
   * not look at the tree, or not for this job: unallocated work is served by arrival alone.
   */
  List<AccountTree.Step> path(Job job);

  /** Which of two jobs of the queue comes first, and by which key. */
  Parting parting(Job one, Job other);

  /**
   * What tells two jobs apart.
   *
   * @param first the one that comes first
   * @param key the first key of the order that differs: {@code allocated}, {@code account_tree},
   *     {@code account_usage}, {@code priority}, {@code priority_class}, {@code queued_at} or
   *     {@code id}
   * @param ofFirst what {@code first} has there, {@code ofSecond} the other; null for the tree
   * @param fork where in the tree they part; null for another key
   */
  record Parting(
      Job first, Job second, String key, Object ofFirst, Object ofSecond, AccountTree.Fork fork) {}
}
