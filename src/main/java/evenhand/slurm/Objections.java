package evenhand.slurm;

import evenhand.cycle.NewJob;
import evenhand.cycle.Objection;
import java.util.Optional;

/**
 * What a submission holds that could not reach Slurm as it is. Told when it is submitted, by the
 * same reading by which {@link SbatchCommand} would refuse its order later.
 */
public final class Objections {
  private final SlurmSettings settings;

  Objections(SlurmSettings settings) {
    this.settings = settings;
  }

  /** To what the script sets for sbatch; nothing of this machine has a part in it. */
  public Optional<Objection> toScript(NewJob job) {
    return Optional.ofNullable(
        objection(
            "script",
            () -> {
              SbatchCommand.checkLineBreaks(job.script());
              ScriptOptions.read(job.script(), settings.scriptOptions());
            }));
  }

  /** To everything of it, as sbatch would be called on this machine. */
  public Optional<Objection> to(NewJob job) {
    Objection found = toScript(job).orElse(null);
    if (found == null) {
      found = toUser(job);
    }
    if (found == null) {
      found = objection("script", () -> SbatchCommand.checkScript(job.script()));
    }
    if (found == null) {
      found = objection("args", () -> SbatchCommand.checkArguments(job.arguments()));
    }
    if (found == null) {
      found = objection("env", () -> SbatchCommand.checkVariables(job.environment()));
    }
    if (found == null && job.workdir() != null) {
      found = objection("workdir", () -> SbatchCommand.checkWord(job.workdir()));
    }
    return Optional.ofNullable(found);
  }

  private Objection toUser(NewJob job) {
    return settings.asUser()
        ? objection("user", () -> new LocalUsers(settings).find(job.user()))
        : null;
  }

  private static Objection objection(String field, Runnable check) {
    try {
      check.run();
      return null;
    } catch (IllegalArgumentException e) {
      return new Objection(field, e.getMessage());
    }
  }
}
