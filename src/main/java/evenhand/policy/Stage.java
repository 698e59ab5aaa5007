package evenhand.policy;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The stages in which rules are asked, in order. A rule belongs to one of them by its {@code
 * ruleflow-group}; {@code not} may negate only what an earlier stage or the shell inserted.
 *
 * <p>A cycle opens with ACCRUE to FORCED, once. Then each job has its turn, FIT to NOTIFY: START,
 * ABSORB, CLAIM, RESERVE and WAIT are asked one after the other until one gives a verdict; SWAP
 * only after a START, NOTIFY after anything that started the job. A submission is asked FIT and
 * ADMISSION. The end of a job is asked END, ACCRUE, FACTOR and CHARGE.
 */
public enum Stage {
  END("the end of a job: what ends with it"),
  ACCRUE("what was held, and what it costs"),
  FACTOR("how much of a cost is charged"),
  LOST("reservations whose placement is gone"),
  RANK("reservations whose job lost its place"),
  DRAIN("running jobs that must leave their node"),
  FORCED("what a forced release charges"),
  CHARGE("what the end of a job charges"),
  FIT("which placements could ever run a request"),
  ADMISSION("whether a submission is accepted"),
  AVAILABLE("which placements could run the job now"),
  PERMISSION("what the job may not do this time"),
  START("whether and where the job starts"),
  SWAP("what a job that starts gives back"),
  ABSORB("whether the job's reservation grows or is complete"),
  SHIELD("which running work is not ended for the job"),
  PREEMPT("which running work may be ended to make room for the job"),
  CLAIM("whether and where the job claims GPUs"),
  RESERVE("whether and where the job begins a reservation"),
  WAIT("why the job waits"),
  NOTIFY("who is told when the job starts");

  private final String meaning;

  Stage(String meaning) {
    this.meaning = meaning;
  }

  /** The word in a rule's {@code ruleflow-group}. */
  public String word() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }

  /** What rules of this stage settle, for people. */
  public String meaning() {
    return meaning;
  }

  /** Whether rules of this stage are asked in a job's turn. */
  boolean ofTurn() {
    return ordinal() >= FIT.ordinal() && this != ADMISSION;
  }

  static Optional<Stage> of(String word) {
    return Arrays.stream(values()).filter(s -> s.word().equals(word)).findFirst();
  }

  static List<String> words() {
    return Arrays.stream(values()).map(Stage::word).toList();
  }
}
