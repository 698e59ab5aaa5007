package evenhand.cycle;

import java.time.Instant;

/** What was told about when jobs would start, held against when they did. */
public interface StartEstimates {

  /** Nothing is remembered, as in memory. */
  StartEstimates NONE =
      new StartEstimates() {
        @Override
        public void made(long job, Instant at, Instant p50, Instant p90) {}

        @Override
        public Kept kept(Instant now) {
          return new Kept(0, 0);
        }
      };

  /** Remembers an estimate; of several about one job within ten minutes only the first. */
  void made(long job, Instant at, Instant p50, Instant p90);

  /**
   * How the last estimates turned out, 200 at most. None is counted before its p90 has passed: of
   * those that are younger only the kept promises could be seen.
   *
   * @param checked those whose p90 has passed, and whose job had not been ended unstarted by then
   * @param held those of them whose job had started by p90
   */
  record Kept(int checked, int held) {}

  /** How the last estimates turned out, as things stand now. */
  Kept kept(Instant now);
}
