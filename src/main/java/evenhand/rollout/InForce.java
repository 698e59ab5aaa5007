package evenhand.rollout;

import java.time.Instant;

/**
 * The policy that every process follows.
 *
 * @param by who put it in force
 * @param setting the policy's name in the settings, when somebody last changed it there
 */
public record InForce(
    String policy, String hash, Instant since, String by, String reason, String setting) {}
