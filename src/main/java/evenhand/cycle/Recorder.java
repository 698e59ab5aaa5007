package evenhand.cycle;

import evenhand.facts.Snapshot;
import evenhand.outcomes.Decision;
import java.util.Optional;

/** Writes decisions and snapshots in the form in which they are kept. */
public interface Recorder {

  String decision(Decision decision);

  String snapshot(Snapshot snapshot);

  /** Reads a decision as {@link #decision} wrote it; empty where no text is kept. */
  default Optional<Decision> readDecision(String json) {
    return Optional.empty();
  }

  /** Names the snapshot, {@code sha256:…}: what the decision's {@code snapshotHash} becomes. */
  String hash(Snapshot snapshot);

  /**
   * Reads a recorded snapshot. A live one may be what nobody would write by hand, e.g. have more
   * reserved than is free because a job from outside took GPUs (R5); that is no fault here.
   *
   * @throws RuntimeException when it is no snapshot; the message says what is wrong with it
   */
  default Snapshot readSnapshot(String snapshot) {
    throw new UnsupportedOperationException("nothing was recorded here");
  }

  /** Keeps no text: for simulations, where nobody reads it. */
  Recorder NOTHING =
      new Recorder() {
        @Override
        public String decision(Decision decision) {
          return "{}";
        }

        @Override
        public String snapshot(Snapshot snapshot) {
          return "{}";
        }

        @Override
        public String hash(Snapshot snapshot) {
          return "none";
        }
      };
}
