package evenhand.sandbox;

import java.time.Duration;

/** What one of Slurm's client commands answered, and how long that took. */
public record ClientResult(int exitCode, String out, String err, Duration took) {}
