package evenhand.cli;

import evenhand.check.Check;
import evenhand.input.InputFault;
import evenhand.policy.RuleFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * {@code check --watch}: checks again whenever a file of the rules or scenarios changes, and tells
 * only what came out otherwise than before. Looks twice a second; an edit counts when nothing has
 * changed between two looks, so that a half-written file is not checked.
 */
final class WatchedCheck {
  private static final long LOOK_EVERY_MS = 500;
  private static final int MOST_FILES = 20_000;

  private final Console console;
  private final RuleFiles rules;
  private final Optional<Path> scenarios;
  private final Integer runs;
  private final List<Path> folders = new ArrayList<>();
  private Map<String, Check.Result> before = Map.of();

  /**
   * @param runs how many checks are made; null until interrupted
   */
  WatchedCheck(Console console, RuleFiles rules, Optional<Path> scenarios, Integer runs) {
    this.console = console;
    this.rules = rules;
    this.scenarios = scenarios;
    this.runs = runs;
    if (!(rules instanceof RuleFiles.Folder folder)) {
      throw new Failed(
          Exit.WRONG_USE,
          "The rules in the jar never change; name a folder to watch with --rules.");
    }
    folders.add(folder.folder());
    Path here = Path.of("fixtures", "scenarios");
    if (scenarios.isPresent() || Files.isDirectory(here)) {
      folders.add(scenarios.orElse(here));
    }
  }

  int run() {
    Map<Path, String> seen = look();
    int failed = check(true);
    for (int done = 1; runs == null || done < runs; done++) {
      Map<Path, String> changed = changed(seen);
      if (changed == null) {
        break;
      }
      seen = changed;
      failed = check(false);
    }
    return failed == 0 ? Exit.DONE : Exit.NO;
  }

  /** Waits for a change and for it to be complete; null when interrupted. */
  private Map<Path, String> changed(Map<Path, String> seen) {
    Map<Path, String> last = seen;
    while (true) {
      try {
        Thread.sleep(LOOK_EVERY_MS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return null;
      }
      Map<Path, String> now = look();
      if (!now.equals(seen) && now.equals(last)) {
        return now;
      }
      last = now;
    }
  }

  /** Every file with its size and the time of its last change. */
  private Map<Path, String> look() {
    Map<Path, String> found = new TreeMap<>();
    for (Path folder : folders) {
      try (Stream<Path> all = Files.walk(folder, FileVisitOption.FOLLOW_LINKS)) {
        all.limit(MOST_FILES)
            .filter(Files::isRegularFile)
            .forEach(
                file -> {
                  try {
                    found.put(file, Files.size(file) + " " + Files.getLastModifiedTime(file));
                  } catch (IOException e) {
                    found.put(file, "gone"); // between the list and the look
                  }
                });
      } catch (IOException | UncheckedIOException e) {
        found.put(folder, "cannot be listed");
      }
    }
    return found;
  }

  private int check(boolean first) {
    Map<String, Check.Result> results = new LinkedHashMap<>();
    int failed;
    try {
      failed = new Check(rules).run(scenarios, result -> results.put(result.name(), result));
    } catch (InputFault e) {
      console.out().println(e.getMessage());
      console.out().flush();
      return 1;
    }
    Map<String, Check.Result> gone = new HashMap<>(before);
    int changed = 0;
    for (Map.Entry<String, Check.Result> result : results.entrySet()) {
      Check.Result was = gone.remove(result.getKey());
      boolean tell =
          first ? result.getValue().state() != Check.State.OK : !result.getValue().equals(was);
      if (tell) {
        changed++;
        CheckCommand.tell(console, result.getValue());
      }
    }
    for (String name : gone.keySet().stream().sorted().toList()) {
      changed++;
      console.out().println("gone  " + Table.clean(name));
    }
    before = results;
    console
        .out()
        .println(
            (failed == 0
                    ? "All " + results.size() + " are right"
                    : failed + " of " + results.size() + " are not right")
                + (first ? "; watching " + folders : "; " + changed + " came out otherwise")
                + ".");
    console.out().flush();
    return failed;
  }
}
