package evenhand.cycle;

import evenhand.facts.Snapshot;
import evenhand.outcomes.Decision;
import java.util.Optional;

/** Writes decisions and snapshots in the form in which they are kept (FORMATS 1, 2). */
public interface Recorder {

  String decision(Decision decision);

  String snapshot(Snapshot snapshot);

  /** Reads a decision as {@link #decision} wrote it; empty where no text is kept. */
  default Optional<Decision> read(String json) {
    return Optional.empty();
  }

  /** Names the snapshot, {@code sha256:…}: what the decision's {@code snapshotHash} becomes. */
  String hash(Snapshot snapshot);

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
