package evenhand.facts;

/**
 * Some GPUs are claimed (G3).
 *
 * @param claimer the job that has claimed them
 * @param seconds until its ready time: allocated work that is protected no longer may run there
 */
public record Backfill(String claimer, double seconds) {}
