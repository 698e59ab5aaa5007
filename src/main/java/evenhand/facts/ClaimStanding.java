package evenhand.facts;

/**
 * How the claim stands when a cycle starts, before any job is taken (G4).
 *
 * @param queued whether its job still waits
 * @param gone whether a placement of it is not up any more, or has too few GPUs that could come to
 *     it
 * @param overtaken whether its job is no longer first, by more than {@code reservation_margin}
 */
public record ClaimStanding(Claim claim, boolean queued, boolean gone, boolean overtaken) {}
