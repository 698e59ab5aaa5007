package evenhand.slurm.text;

import java.util.regex.Pattern;

/**
 * What {@code sbatch} says when it gives no job id, and what that means: the one table of it. The
 * first row whose pattern is found in the answer counts, so the doubtful ones stand first.
 *
 * <p>Patterns are regular expressions, found anywhere in a line, without case.
 */
public enum SbatchMessage {
  TIMED_OUT(
      Outcome.UNKNOWN,
      "Socket timed out|Zero Bytes were transmitted|Connection (timed out|reset)",
      "the controller did not answer in time; it may have taken the job all the same"),
  BROKEN_OFF(
      Outcome.UNKNOWN,
      "Message (receive|send) failure|Unexpected message received|Transport endpoint is not connected",
      "the exchange with the controller broke off; it may have taken the job"),
  CONTROLLER_AWAY(
      Outcome.RETRY,
      "Unable to contact slurm controller|Connection refused|controller in standby",
      "no controller could be reached, so nothing was submitted"),
  NO_CONFIGURATION(
      Outcome.RETRY,
      "Could not establish a configuration source|s_p_parse_file: cannot stat|Unable to process configuration",
      "Slurm's configuration was not found on this machine; nothing was submitted"),
  NOT_AUTHENTICATED(
      Outcome.RETRY,
      "Munge (encode|decode) failed|Protocol authentication error|Invalid authentication credential",
      "munge did not vouch for the request; nothing was submitted"),
  CONTROLLER_BUSY(
      Outcome.RETRY,
      "temporarily unable to (accept job|handle)|Resource temporarily unavailable|Rate limit",
      "the controller takes no more jobs for now"),
  CONTROLLER_DISK(
      Outcome.RETRY, "I/O error writing script", "the controller could not save the script"),
  SUBMIT_LIMIT(
      Outcome.RETRY,
      "(Assoc|QOS)\\w*Submit\\w*Limit|MaxSubmitJobs?(PerUser|PerAccount)?\\b",
      "so many jobs of this user, account or QOS are in the queue that it takes no more for now"),
  PARTITION_CLOSED(
      Outcome.RETRY,
      "Required partition not available|Partition (is )?(in)? ?(down|inactive|drain)",
      "the partition is closed for now"),
  NODE_CLOSED(
      Outcome.RETRY,
      "Required node not available|Requested nodes are busy",
      "the node asked for is down, drained or reserved for now"),
  JOB_LIMIT(
      Outcome.FINAL,
      "(Assoc|QOS)(Max|Min|Grp)\\w+",
      "the job itself is beyond a limit of its account or QOS"),
  ACCOUNT(
      Outcome.FINAL,
      "Invalid account or account/partition combination",
      "the account does not exist or may not use this partition"),
  PARTITION(Outcome.FINAL, "invalid partition", "the partition does not exist"),
  QOS(Outcome.FINAL, "Invalid qos", "the QOS does not exist or may not be used"),
  NODE(Outcome.FINAL, "Invalid node name", "the node does not exist"),
  GRES(
      Outcome.FINAL,
      "Invalid generic resource|Invalid Trackable RESource|Invalid GRES",
      "the GPU type or resource name does not exist"),
  FEATURE(Outcome.FINAL, "Invalid feature specification", "no node has that feature"),
  NO_SUCH_NODES(
      Outcome.FINAL,
      "Requested node configuration is not available",
      "no node could ever run it: unknown GPU type, too many GPUs, or too much memory"),
  TOO_LARGE(
      Outcome.FINAL,
      "can ?not be satisfied|More processors requested than permitted|Node count specification invalid",
      "it asks for more memory, processors or nodes than there are"),
  PARTITION_LIMIT(
      Outcome.FINAL,
      "Requested partition configuration not available",
      "it asks for more nodes or time than the partition gives"),
  TIME_LIMIT(
      Outcome.FINAL, "Requested time limit is invalid", "its time limit is missing or too long"),
  DEPENDENCY(Outcome.FINAL, "Job dependency problem", "it depends on a job that is gone"),
  RESERVATION(Outcome.FINAL, "Requested reservation is invalid", "the reservation does not exist"),
  NOT_PERMITTED(
      Outcome.FINAL,
      "not permitted to use|Access/permission denied|Invalid user id|only permitted by root",
      "the user may not do this"),
  ARRAY(Outcome.FINAL, "Invalid job array", "the array expression is wrong or too large"),
  SCRIPT(
      Outcome.FINAL,
      "Unable to open file|Batch script is empty|DOS line breaks|does not look like a batch script"
          + "|parameter too long|size of .*script",
      "the script is missing or no script"),
  OPTION(
      Outcome.FINAL,
      "unrecognized option|invalid option|requires an argument|Invalid -|Invalid .* specification",
      "an option or its value is wrong"),
  // sbatch prints this below the limit that is meant; alone it does not say whether time helps.
  POLICY(
      Outcome.RETRY,
      "violates accounting/QOS policy",
      "a limit of the account or QOS stands against it; Slurm does not say which");

  /** What to do. */
  public enum Outcome {
    /** Refused for good: the same job will be refused again. */
    FINAL,
    /** Surely not submitted; may be sent again after a pause. */
    RETRY,
    /** May have been submitted: look for it before it is sent again. */
    UNKNOWN
  }

  private final Outcome outcome;
  private final Pattern pattern;
  private final String meaning;

  SbatchMessage(Outcome outcome, String pattern, String meaning) {
    this.outcome = outcome;
    this.pattern = Pattern.compile(pattern, Pattern.CASE_INSENSITIVE);
    this.meaning = meaning;
  }

  /** The row that counts for this text, or null when none does. */
  static SbatchMessage in(String text) {
    for (SbatchMessage message : values()) {
      if (message.pattern.matcher(text).find()) {
        return message;
      }
    }
    return null;
  }

  public Outcome outcome() {
    return outcome;
  }

  /** The regular expression by which it is known. */
  public String pattern() {
    return pattern.pattern();
  }

  /** What it means, for a person. */
  public String meaning() {
    return meaning;
  }
}
