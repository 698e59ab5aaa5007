package evenhand.cycle;

import java.time.Instant;

/**
 * Which recorded decisions are meant; null for all. A clause, account and job together mean what
 * that clause said of that job.
 *
 * @param job only those that had something new to say about it
 * @param account the same about a job of this account
 * @param clause only those that said it by this clause
 * @param since only those decided then or later
 * @param until only those decided before
 */
public record DecisionFilter(
    Long job, String account, String clause, Instant since, Instant until) {}
