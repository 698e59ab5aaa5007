package evenhand.slurm;

import evenhand.cycle.SubmitOrder;
import evenhand.facts.Share;
import evenhand.facts.Tier;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * How one order is given to sbatch: script, arguments, environment and folder reach the job byte
 * for byte, or the order is refused.
 *
 * @param options options and their values, without the name of the environment's file
 * @param arguments what follows the script
 * @param environment the job's whole environment as {@code --export-file} wants it
 * @param script what goes to standard input
 */
record SbatchCommand(
    List<String> options, List<String> arguments, byte[] environment, byte[] script) {
  /** Linux gives no program a longer argument or variable. */
  private static final int LONGEST_WORD = 131_071;

  /** Far below what Linux gives to all arguments of a program together. */
  private static final int LONGEST_ARGUMENTS = 1 << 20;

  /** Slurm itself takes no script above 4 MiB unless told to. */
  private static final int LONGEST_SCRIPT = 4 << 20;

  private static final List<String> OF_SERVICE =
      List.of("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG");

  /** Each of these in the name of the output makes it another file for each attempt. */
  private static final List<String> PER_ATTEMPT = List.of("{attempt}", "%j", "%J", "%A");

  private static final String PLAIN_PATH = "/usr/local/bin:/usr/bin:/bin";

  /**
   * @param inherited the service's own environment
   * @throws IllegalArgumentException with a sentence when it could not reach the job as it is
   */
  static SbatchCommand of(
      SubmitOrder order, SlurmSettings settings, Map<String, String> inherited) {
    return of(order, settings, inherited, null);
  }

  /**
   * @param inherited the service's own environment
   * @param as the user that it runs as; null for the service's own
   * @throws IllegalArgumentException with a sentence when it could not reach the job as it is
   */
  static SbatchCommand of(
      SubmitOrder order,
      SlurmSettings settings,
      Map<String, String> inherited,
      LocalUsers.LocalUser as) {
    if (order.on().isEmpty()) {
      throw new IllegalArgumentException("the order names no node");
    }
    List<String> own = ScriptOptions.read(order.script(), settings.scriptOptions());
    checkScript(order.script());
    List<String> options = options(order, settings, own, as);
    options.forEach(SbatchCommand::checkWord);
    checkArguments(order.arguments());
    return new SbatchCommand(
        List.copyOf(options),
        order.arguments(),
        environment(order, settings, inherited, as),
        utf8(order.script()));
  }

  /** As sbatch itself refuses them: the shell named in the first line would not be found. */
  static void checkLineBreaks(String script) {
    int at = script.indexOf("\r\n");
    if (at >= 0) {
      throw new IllegalArgumentException(
          "line "
              + (1 + script.substring(0, at).chars().filter(c -> c == '\n').count())
              + " of the script ends in a DOS line break (CR LF), which Slurm refuses; save it with"
              + " line feeds alone");
    }
  }

  static void checkScript(String script) {
    int length = bytes("the script", script).length;
    if (length > LONGEST_SCRIPT) {
      throw new IllegalArgumentException(
          "the script has "
              + length
              + " bytes, Slurm takes at most "
              + LONGEST_SCRIPT
              + "; keep the data in a file");
    }
  }

  static void checkArguments(List<String> arguments) {
    arguments.forEach(SbatchCommand::checkWord);
    int length = arguments.stream().mapToInt(a -> utf8(a).length).sum();
    if (length > LONGEST_ARGUMENTS) {
      throw new IllegalArgumentException(
          "the arguments have "
              + length
              + " bytes together, at most "
              + LONGEST_ARGUMENTS
              + " can be given");
    }
  }

  static void checkVariables(Map<String, String> variables) {
    variables.forEach(SbatchCommand::entry);
  }

  /** The whole command. */
  List<String> words(String environmentFile) {
    List<String> words = new ArrayList<>(List.of("sbatch"));
    words.addAll(options);
    words.add("--export-file=" + environmentFile);
    words.add("/dev/stdin");
    words.addAll(arguments);
    return words;
  }

  private static List<String> options(
      SubmitOrder order, SlurmSettings settings, List<String> ownOptions, LocalUsers.LocalUser as) {
    Share first = order.on().get(0);
    Tier tier = first.tier();
    String partition = settings.partition() != null ? settings.partition() : tier.partition();
    String workdir = order.workdir();
    if (workdir == null) {
      String home = as == null ? System.getProperty("user.home") : as.home();
      workdir = settings.workdir() != null ? settings.workdir() : home;
    }
    String token = order.token().text();
    List<String> options = new ArrayList<>(settings.sbatchOptions());
    options.addAll(
        List.of(
            "--parsable",
            // It runs once its number is written down, and not before.
            "--hold",
            // Slurm would start a job again by itself, unseen by the policy and its accounts.
            "--no-requeue",
            "--ignore-pbs",
            "--job-name=" + token,
            "--comment="
                + token
                + (order.resumed() == 0 ? "" : " resumed " + order.resumed() + "x")));
    if (as != null) {
      options.add("--uid=" + as.uid());
      options.add("--gid=" + as.gid());
    }
    if (partition != null) {
      options.add("--partition=" + partition);
    }
    options.add(
        "--nodelist=" + order.on().stream().map(Share::node).collect(Collectors.joining(",")));
    options.add("--nodes=" + order.on().size());
    options.add("--ntasks-per-node=1");
    options.add("--gres=" + gres(tier) + ":" + first.gpus());
    if (order.timeLimitSeconds() != null) {
      // Slurm counts in minutes and rounds up whatever it is given.
      options.add("--time=" + Math.max(1, (order.timeLimitSeconds() + 59) / 60));
    }
    if (!ownOptions.contains("output")) {
      options.add(
          "--output="
              + settings
                  .output()
                  .replace("{job}", Long.toString(order.token().job()))
                  .replace("{attempt}", Integer.toString(order.token().attempt())));
    }
    boolean apart =
        !ownOptions.contains("output")
            && !ownOptions.contains("error")
            && PER_ATTEMPT.stream().anyMatch(settings.output()::contains);
    if (!apart && order.resumed() > 0 && !ownOptions.contains("open-mode")) {
      // The file may be that of an earlier attempt, whose output must not be lost.
      options.add("--open-mode=append");
    }
    options.add("--chdir=" + workdir);
    return options;
  }

  private static String gres(Tier tier) {
    return tier.gres() != null ? tier.gres() : "gpu:" + tier.name();
  }

  private static byte[] environment(
      SubmitOrder order,
      SlurmSettings settings,
      Map<String, String> inherited,
      LocalUsers.LocalUser as) {
    Map<String, String> variables = new TreeMap<>();
    variables.put("PATH", PLAIN_PATH);
    for (String name : OF_SERVICE) {
      if (inherited.get(name) != null) {
        variables.put(name, inherited.get(name));
      }
    }
    if (as != null) {
      variables.put("HOME", as.home());
      variables.put("USER", as.name());
      variables.put("LOGNAME", as.name());
      variables.put("SHELL", as.shell().isEmpty() ? "/bin/sh" : as.shell());
    }
    variables.putAll(settings.jobEnvironment());
    variables.putAll(order.environment());
    variables.put("EVENHAND_JOB_ID", Long.toString(order.token().job()));
    variables.put("EVENHAND_ATTEMPT", Integer.toString(order.token().attempt()));
    variables.put("EVENHAND_RESUMED", Integer.toString(order.resumed()));
    StringBuilder text = new StringBuilder();
    variables.forEach((name, value) -> text.append(entry(name, value)).append('\0'));
    return utf8(text.toString());
  }

  /** A variable as programs are given it. */
  private static String entry(String name, String value) {
    if (name.isEmpty() || name.indexOf('=') >= 0) {
      throw new IllegalArgumentException(
          "the environment has a variable named '" + name + "', which no program can be told");
    }
    String entry = name + "=" + value;
    if (bytes("the variable " + name, entry).length > LONGEST_WORD) {
      throw new IllegalArgumentException(
          "the variable " + name + " is longer than Linux lets one be");
    }
    return entry;
  }

  static void checkWord(String word) {
    byte[] bytes = bytes("an argument", word);
    String shown = word.length() <= 40 ? word : word.substring(0, 37) + "...";
    if (bytes.length > LONGEST_WORD) {
      throw new IllegalArgumentException(
          "the argument '" + shown + "' is longer than Linux lets one be");
    }
    // Java gives arguments to programs in the encoding of the locale it was started under.
    String encoding = System.getProperty("sun.jnu.encoding", "");
    if (bytes.length != word.length() && !isUtf8(encoding)) {
      throw new IllegalArgumentException(
          "'"
              + shown
              + "' has letters that the service's locale ("
              + encoding
              + ") lacks; start the service with LC_ALL=C.UTF-8");
    }
  }

  private static boolean isUtf8(String encoding) {
    return Charset.isSupported(encoding)
        && Charset.forName(encoding).equals(StandardCharsets.UTF_8);
  }

  private static byte[] bytes(String what, String text) {
    if (text.indexOf('\0') >= 0) {
      throw new IllegalArgumentException(
          what + " holds the character NUL, which no program can be given");
    }
    return utf8(text);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
