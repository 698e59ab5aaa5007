package evenhand.service;

import evenhand.cycle.CycleReport;
import java.time.Duration;
import java.time.Instant;

/** Called by the thread that runs cycles, between two of them. Must not take long. */
interface BesideCycle {
  /** A cycle is about to begin; or, while cycles are paused, would be. */
  default void before() {}

  /** A cycle came to its end. */
  default void after(CycleReport report) {}

  /** What is older than this may be forgotten. */
  default void forget(Duration olderThan, Instant now) {}
}
