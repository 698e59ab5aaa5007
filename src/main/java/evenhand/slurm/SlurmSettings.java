package evenhand.slurm;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.ConstructorBinding;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How Slurm is reached and how jobs are given to it: {@code evenhand.slurm.*}.
 *
 * @param conf the slurm.conf its commands read; null: where Slurm finds one by itself. A copy with
 *     a small MessageTimeout shortens the wait for a controller that is away
 * @param bin folder of its commands; null: found by PATH
 * @param timeout after this long a command is killed and counts as not answered. Longer than
 *     MessageTimeout, so that Slurm's own words are heard first
 * @param environment variables for the commands besides PATH, HOME, USER, LOGNAME, TZ, LC_ALL and
 *     SLURM_CONF, such as LD_LIBRARY_PATH or SLURM_JWT; jobs do not get them
 * @param jobEnvironment variables of every job, over the service's own PATH, HOME, USER, LOGNAME,
 *     SHELL and LANG and under what the job itself asks for
 * @param partition where all jobs go, whatever their tier says; null: the tier's partition
 * @param workdir of jobs that name none; null: the home folder of the service's user
 * @param output where a job's output goes, {@code {job}} and {@code {attempt}} filled in, then read
 *     by Slurm ({@code %j}, {@code %N}, …); relative to the job's workdir. Not used for a script
 *     that says {@code #SBATCH --output} itself
 * @param sbatchOptions options for every sbatch, one element each, such as {@code
 *     --mem-per-gpu=32G}, {@code --cpus-per-gpu=8} or {@code --account=research}. They stand before
 *     ours, so ours win
 * @param scriptOptions long names of the options, all of which take a value, that a script's {@code
 *     #SBATCH} lines may set; a script that sets any other is refused, since it would undo what was
 *     decided ({@code --array}, {@code --gpus}, {@code --nodelist}) or hold up the service ({@code
 *     --wait})
 * @param usableStates flags of a node that leave the choice to the site, and upon which jobs are
 *     sent there all the same. PLANNED: Slurm plans the node for a job of its queue, which here is
 *     ours or comes after ours. POWERED_DOWN, POWERING_UP, REBOOT_REQUESTED and words of newer
 *     Slurms are draining until they are listed here
 * @param accounting whether jobs that the controller has forgotten are looked up by sacct; {@code
 *     auto}: when slurm.conf names slurmdbd
 * @param detailsPerReading most jobs that one reading asks about singly; the others wait for the
 *     next
 * @param preemptSignal name of the signal that tells a job, its batch shell too, that its grace
 *     time has begun (K6)
 * @param submitAs whose jobs they are in Slurm: the service's, or those of who submitted them, for
 *     which the service has to be root
 * @param leastUid users with a lower number are the system's own, and no job runs as one of them
 */
@ConfigurationProperties("evenhand.slurm")
public record SlurmSettings(
    Path conf,
    Path bin,
    @DefaultValue("30s") Duration timeout,
    @DefaultValue Map<String, String> environment,
    @DefaultValue Map<String, String> jobEnvironment,
    String partition,
    String workdir,
    @DefaultValue("evenhand-{job}-{attempt}.out") String output,
    @DefaultValue List<String> sbatchOptions,
    @DefaultValue({
          "cpus-per-gpu",
          "cpus-per-task",
          "error",
          "hint",
          "job-name",
          "mail-type",
          "mail-user",
          "mem",
          "mem-per-cpu",
          "mem-per-gpu",
          "open-mode",
          "output",
          "signal",
          "threads-per-core",
          "time",
          "tmp"
        })
        List<String> scriptOptions,
    @DefaultValue("PLANNED") List<String> usableStates,
    @DefaultValue("auto") Accounting accounting,
    @DefaultValue("50") int detailsPerReading,
    @DefaultValue("TERM") String preemptSignal,
    @DefaultValue("service") SubmitAs submitAs,
    @DefaultValue("1000") long leastUid) {

  private static final Pattern SIGNAL = Pattern.compile("[A-Z][A-Z0-9]{1,9}|[1-9][0-9]?");

  /** Whether sacct is asked. */
  public enum Accounting {
    AUTO,
    ON,
    OFF
  }

  /** Whose jobs they are in Slurm. */
  public enum SubmitAs {
    SERVICE,
    USER
  }

  /** Those of a service that submits all jobs as itself. */
  public SlurmSettings(
      Path conf,
      Path bin,
      Duration timeout,
      Map<String, String> environment,
      Map<String, String> jobEnvironment,
      String partition,
      String workdir,
      String output,
      List<String> sbatchOptions,
      List<String> scriptOptions,
      List<String> usableStates,
      Accounting accounting,
      int detailsPerReading,
      String preemptSignal) {
    this(
        conf,
        bin,
        timeout,
        environment,
        jobEnvironment,
        partition,
        workdir,
        output,
        sbatchOptions,
        scriptOptions,
        usableStates,
        accounting,
        detailsPerReading,
        preemptSignal,
        SubmitAs.SERVICE,
        0);
  }

  /** Whether each job is its submitter's in Slurm too. */
  boolean asUser() {
    return submitAs == SubmitAs.USER;
  }

  @ConstructorBinding
  public SlurmSettings {
    // A key without a value in a settings file is empty text, and says nothing.
    conf = conf == null || conf.toString().isBlank() ? null : conf;
    bin = bin == null || bin.toString().isBlank() ? null : bin;
    partition = partition == null || partition.isBlank() ? null : partition;
    workdir = workdir == null || workdir.isBlank() ? null : workdir;
    environment = Map.copyOf(environment);
    jobEnvironment = Map.copyOf(jobEnvironment);
    sbatchOptions = List.copyOf(sbatchOptions);
    scriptOptions = List.copyOf(scriptOptions);
    usableStates = List.copyOf(usableStates);
    if (timeout.isNegative() || timeout.isZero()) {
      throw new IllegalArgumentException("evenhand.slurm.timeout must be longer than nothing");
    }
    if (!SIGNAL.matcher(preemptSignal).matches()) {
      throw new IllegalArgumentException(
          "evenhand.slurm.preempt-signal is '"
              + preemptSignal
              + "'; it must be the name of a signal, e.g. TERM or USR1");
    }
    for (String option : sbatchOptions) {
      if (!option.startsWith("-")) {
        // sbatch would take the word for the script, and ours for its argument.
        throw new IllegalArgumentException(
            "evenhand.slurm.sbatch-options: '"
                + option
                + "' is no option; write one element each, as --name=value");
      }
    }
  }
}
