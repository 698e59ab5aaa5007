package evenhand.facts;

import java.time.Instant;
import java.util.List;
import java.util.Set;

/**
 * All that one cycle knows. {@link Placement#idle()} is here the number of GPUs no research job
 * holds, before reservations are taken off, and {@link Placement#reserved()} is 0: the policy works
 * out both from {@link #reservations()}.
 *
 * @param policy name of the policy that shall decide
 * @param now the cycle's one instant; every duration is measured to it
 * @param cluster name of the cluster
 * @param jobs the queue, in any order: the policy orders it (Q1, Q4)
 * @param claims what is claimed: at most one (G1)
 * @param workStays nodes that get no new work and whose work goes on all the same: they are closed,
 *     not drained (X2)
 */
public record Snapshot(
    String policy,
    Instant now,
    String cluster,
    List<Tier> tiers,
    List<Placement> placements,
    List<Account> accounts,
    List<Job> jobs,
    List<Reservation> reservations,
    List<Running> running,
    List<Claim> claims,
    Set<String> workStays) {

  /** One in which nothing is claimed, and every node that is draining drains. */
  public Snapshot(
      String policy,
      Instant now,
      String cluster,
      List<Tier> tiers,
      List<Placement> placements,
      List<Account> accounts,
      List<Job> jobs,
      List<Reservation> reservations,
      List<Running> running) {
    this(
        policy,
        now,
        cluster,
        tiers,
        placements,
        accounts,
        jobs,
        reservations,
        running,
        List.of(),
        Set.of());
  }

  public Snapshot {
    tiers = List.copyOf(tiers);
    placements = List.copyOf(placements);
    accounts = List.copyOf(accounts);
    jobs = List.copyOf(jobs);
    reservations = List.copyOf(reservations);
    running = List.copyOf(running);
    claims = List.copyOf(claims);
    workStays = Set.copyOf(workStays);
  }
}
