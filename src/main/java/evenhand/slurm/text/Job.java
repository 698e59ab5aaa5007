package evenhand.slurm.text;

import java.time.Instant;
import java.util.List;

/**
 * One job, as an answer of Slurm tells of it. What the answer does not tell is null.
 *
 * @param job its id as people write it: {@code 123}, an array task {@code 40_3}, the tasks of an
 *     array that wait together {@code 7_[1-3]}, a het component {@code 123+1}
 * @param jobRaw the number under which Slurm keeps it where that is another one
 * @param tasks how many jobs the line stands for: more than 1 only for waiting tasks of an array
 * @param name free text; Slurm's numbers come again after years, so match by name and submit time
 * @param partition as asked; {@code partitions} has several apart
 * @param state the main state ({@link JobState#MAIN}); {@code flags} what stands upon it
 * @param reason why it waits or ended so
 * @param nodes the nodes it has or had; empty when it has none, null when not told or cut
 * @param gpus GPUs of the whole job by model: those it has, else those it asks for; null when the
 *     answer does not tell
 * @param start when it began; null while it waits, {@code expectedStart} is Slurm's estimate then
 * @param end when it ended; null while it has not, {@code expectedEnd} is what the limit allows
 * @param exitCode the exit code once it has ended; {@code signal} the signal that ended it, 0 for
 *     none
 * @param cancelledBy the user id of who cancelled it
 * @param restarts how often it was started again; {@code attempts} that and the first
 * @param limitS the time limit in seconds; null and {@code limit} "none" when it has none
 * @param elapsedS seconds the last attempt ran; {@code elapsedAllS} all attempts together
 * @param runs the attempts one by one, the last one last, where the answer has a row for each
 * @param steps its steps, where the answer has them
 * @param notes what was odd but did not hinder the reading
 */
public record Job(
    String job,
    String jobRaw,
    int tasks,
    String name,
    String user,
    String account,
    String partition,
    List<String> partitions,
    String state,
    List<String> flags,
    String reason,
    List<String> nodes,
    List<GpuCount> gpus,
    Instant submit,
    Instant start,
    Instant end,
    Instant expectedStart,
    Instant expectedEnd,
    Integer exitCode,
    Integer signal,
    String cancelledBy,
    Integer restarts,
    Integer attempts,
    String comment,
    Long limitS,
    String limit,
    Long elapsedS,
    Long elapsedAllS,
    List<Run> runs,
    List<Step> steps,
    List<String> notes) {

  /** One attempt of a job that was requeued. */
  public record Run(
      String state,
      Instant submit,
      Instant start,
      Instant end,
      Long elapsedS,
      List<String> nodes) {}

  /** One step of a job; it never decides the job's state. */
  public record Step(String step, String state, Integer exitCode, Integer signal, Long elapsedS) {}
}
