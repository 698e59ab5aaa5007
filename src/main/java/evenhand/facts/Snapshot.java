package evenhand.facts;

import java.time.Instant;
import java.util.List;

/**
 * All that one cycle knows. {@link Placement#idle()} is here the number of GPUs no research job
 * holds, before reservations are taken off, and {@link Placement#reserved()} is 0: the policy works
 * out both from {@link #reservations()}.
 *
 * @param policy name of the policy that shall decide
 * @param now the cycle's one instant; every duration is measured to it
 * @param cluster name of the cluster
 * @param jobs the queue, in any order: the policy orders it (Q1, Q4)
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
    List<Running> running) {
  public Snapshot {
    tiers = List.copyOf(tiers);
    placements = List.copyOf(placements);
    accounts = List.copyOf(accounts);
    jobs = List.copyOf(jobs);
    reservations = List.copyOf(reservations);
    running = List.copyOf(running);
  }
}
