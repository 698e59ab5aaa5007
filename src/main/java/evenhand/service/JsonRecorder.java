package evenhand.service;

import evenhand.cycle.Recorder;
import evenhand.facts.Snapshot;
import evenhand.json.DecisionJson;
import evenhand.json.SnapshotJson;
import evenhand.outcomes.Decision;
import java.util.Optional;

/** Records decisions and snapshots as JSON. */
public final class JsonRecorder implements Recorder {

  @Override
  public String decision(Decision decision) {
    return DecisionJson.write(decision);
  }

  @Override
  public Optional<Decision> readDecision(String json) {
    return Optional.of(DecisionJson.read("the decision", json));
  }

  @Override
  public String snapshot(Snapshot snapshot) {
    return SnapshotJson.write(snapshot);
  }

  @Override
  public String hash(Snapshot snapshot) {
    return SnapshotJson.hash(snapshot);
  }

  @Override
  public Snapshot readSnapshot(String snapshot) {
    return SnapshotJson.readRecorded("the snapshot", snapshot);
  }
}
