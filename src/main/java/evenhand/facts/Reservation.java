package evenhand.facts;

import java.time.Instant;

/**
 * GPUs of one placement held for one queued job (R1).
 *
 * @param account the account of that job, which will pay for it
 * @param since when it was started
 * @param accruedTflopSeconds what it has cost up to {@code accruedAt} (C1)
 */
public record Reservation(
    String job,
    String account,
    String node,
    Tier tier,
    int gpus,
    Instant since,
    double accruedTflopSeconds,
    Instant accruedAt) {}
