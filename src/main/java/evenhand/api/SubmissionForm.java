package evenhand.api;

import evenhand.cycle.NewJob;
import evenhand.input.Document;
import evenhand.input.Field;
import evenhand.input.InputFault;
import evenhand.input.Section;
import evenhand.input.Shape;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The form of a submission. What the policy limits (GPUs a node has, longest protected run time) it
 * leaves to the policy's rules; it keeps out only what no policy could mean, and what could turn
 * into something else on its way to Slurm.
 */
final class SubmissionForm {
  private static final int MOST_GPUS = 1_000_000;
  private static final int LONGEST_SCRIPT = 1 << 20;
  private static final long YEAR = Duration.ofDays(366).toSeconds();
  private static final int LONGEST_VALUE = 100_000;
  private static final Pattern ID = Pattern.compile("[\\p{L}\\p{M}\\p{N}._@-]{1,100}");
  private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,199}");

  /**
   * Slurm and its commands take orders from these; a job must not give them in this service's name.
   */
  private static final List<String> RESERVED =
      List.of("SLURM_", "SBATCH_", "SRUN_", "SALLOC_", "EVENHAND_");

  static final String ID_RIGHT = "1 to 100 letters, digits, or any of . _ - @";

  private static final Field<String> NAME =
      Field.text("name").or("job").means("what people call it; need not be unique");
  private static final Field<String> ACCOUNT =
      Field.text("account", ID_RIGHT, SubmissionForm::isId)
          .or(null, "the account that its user is attached to")
          .means("the account its work is charged to");
  private static final Field<String> USER =
      Field.text("user", ID_RIGHT, SubmissionForm::isId)
          .or("anonymous")
          .means("who submits it; with a token its own user, else taken at its word");
  private static final Field<Integer> NUM_GPUS =
      Field.whole("num_gpus", 1, MOST_GPUS).means("GPUs on each node");
  private static final Field<Integer> NODES =
      Field.whole("nodes", 1, MOST_GPUS).or(1).means("how many nodes");
  private static final Field<String> TIER =
      Field.text("tier").or(null, "null").means("the GPU model it must have; null for any");
  private static final Field<String> MINIMUM_TIER =
      Field.text("minimum_tier").or(null, "null").means("the lowest GPU model it accepts");
  private static final Field<Long> MIN_RUNTIME =
      Field.wholeLong("min_runtime_s", 0, YEAR)
          .or(0L)
          .means("protected run time it declares, seconds (K1)");
  private static final Field<Boolean> RESUMABLE =
      Field.flag("resumable")
          .or(false)
          .means("whether it may be queued again after a preemption (K6)");
  private static final Field<Boolean> PREEMPTIBLE =
      Field.flag("preemptible")
          .or(true)
          .means(
              "whether it consents to make room for work of a higher class; only policy priority asks (PR3)");
  private static final Field<Integer> PRIORITY =
      Field.whole("priority", -1_000_000, 1_000_000)
          .or(0)
          .means("higher is first, within its account only (Q3)");
  private static final Field<Long> TIME_LIMIT =
      Field.wholeLong("time_limit_s", 1, YEAR)
          .or(null, "null")
          .means("when Slurm ends it, seconds from its start; null for the partition's limit");
  private static final Field<String> SCRIPT =
      Field.text(
              "script",
              "a batch script of at most "
                  + LONGEST_SCRIPT
                  + " bytes that begins with #! and has no NUL",
              SubmissionForm::isScript)
          .means("the batch script, whole");
  private static final Field<List<String>> ARGS =
      Field.texts(
              "args",
              1000,
              "text of at most " + LONGEST_VALUE + " characters without NUL",
              SubmissionForm::isValue)
          .or(List.of(), "none")
          .means("arguments of the script");
  private static final Field<Map<String, String>> ENV =
      Field.textMap(
              "env",
              1000,
              "a letter or _ and then letters, digits or _; not beginning with "
                  + String.join(", ", RESERVED),
              SubmissionForm::isVariable,
              "text of at most " + LONGEST_VALUE + " characters without NUL",
              SubmissionForm::isValue)
          .or(Map.of(), "none")
          .means("variables the job is given besides the cluster's own");
  private static final Field<String> WORKDIR =
      Field.text(
              "workdir",
              "an absolute path of at most 4096 characters without control characters",
              SubmissionForm::isPath)
          .or(null, "null")
          .means("the directory it starts in; null for the service's default");

  static final Shape SHAPE =
      Shape.of(
          "a submission",
          NAME,
          ACCOUNT,
          USER,
          NUM_GPUS,
          NODES,
          TIER,
          MINIMUM_TIER,
          MIN_RUNTIME,
          RESUMABLE,
          PREEMPTIBLE,
          PRIORITY,
          TIME_LIMIT,
          SCRIPT,
          ARGS,
          ENV,
          WORKDIR);

  /** The body of a cancellation; it may be left out altogether. */
  static final Shape CANCELLATION = Shape.of("a cancellation", USER);

  private SubmissionForm() {}

  /**
   * @throws InputFault with every field at fault
   */
  static NewJob read(Document body) {
    Section s = body.read(SHAPE);
    return new NewJob(
        s.get(NAME),
        s.get(ACCOUNT),
        s.get(USER),
        null,
        s.get(NODES),
        s.get(NUM_GPUS),
        s.get(TIER),
        s.get(MINIMUM_TIER),
        s.get(MIN_RUNTIME),
        s.get(RESUMABLE),
        s.get(PRIORITY),
        s.get(TIME_LIMIT),
        s.get(SCRIPT),
        s.get(ARGS),
        s.get(ENV),
        s.get(WORKDIR),
        s.get(PREEMPTIBLE));
  }

  /** Who cancels, as far as the body says so. */
  static String canceller(Document body) {
    return body.read(CANCELLATION).get(USER);
  }

  static String nobody() {
    return "anonymous";
  }

  static boolean isId(String text) {
    return ID.matcher(text).matches();
  }

  private static boolean isVariable(String name) {
    return VARIABLE.matcher(name).matches() && RESERVED.stream().noneMatch(name::startsWith);
  }

  private static boolean isScript(String text) {
    return text.startsWith("#!")
        && isText(text)
        && text.getBytes(StandardCharsets.UTF_8).length <= LONGEST_SCRIPT;
  }

  private static boolean isValue(String text) {
    return text.length() <= LONGEST_VALUE && isText(text);
  }

  private static boolean isPath(String text) {
    return text.startsWith("/")
        && text.length() <= 4096
        && text.codePoints().noneMatch(Field::isUnprintable);
  }

  /** No NUL, which no program can be given, and no half of a character. */
  private static boolean isText(String text) {
    return text.codePoints().noneMatch(c -> c == 0 || Character.getType(c) == Character.SURROGATE);
  }
}
