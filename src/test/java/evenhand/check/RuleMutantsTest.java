package evenhand.check;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.check.RuleMutants.Mutant;
import evenhand.policy.PolicyFault;
import evenhand.policy.RuleFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/**
 * Every small wrong edit of a rule makes some scenario fail, but for those listed in {@code
 * rule-mutants.txt} with the reason why they cannot matter. So scenarios show not only that the
 * rules are right, but that nearby rules are wrong.
 */
class RuleMutantsTest {
  private static final RuleFiles RULES = RuleFiles.of(Optional.empty());
  private static final String LISTED = "/rule-mutants.txt";
  private static final int THREADS = 2;

  /**
   * {@code all}, or rule files below this folder, e.g. {@code contract/G2}; null in a usual run.
   */
  private static final String ASKED = System.getProperty("evenhand.mutants");

  /**
   * An edit that is listed is held against the scenarios that name its clause, and against all of
   * them with {@code -Devenhand.mutants=all} or {@code =FILES}: that it is noticed by none takes
   * the most time. A usual run makes every so many of the edits.
   */
  private static final boolean ALL = ASKED != null;

  private static final int USUALLY_EVERY = 11;

  /**
   * All rule files, with the policies that use them; of policy priority only what is its own and
   * what else makes room, for each policy more is a compilation more for each edit.
   */
  private static Map<String, Set<String>> files() throws PolicyFault {
    Map<String, Set<String>> files = MutantCheck.files(RULES, RULES.policies());
    files.forEach(
        (file, using) -> {
          if (!file.startsWith("baseline/") && !file.startsWith("contract/")) {
            using.remove("priority");
          }
        });
    files.keySet().removeIf(file -> ALL && !ASKED.equals("all") && !file.startsWith(ASKED));
    return files;
  }

  private static List<Scenario> scenarios() {
    return Check.texts(Optional.empty()).stream()
        .map(t -> ScenarioFile.read(t.file(), t.text()))
        .toList();
  }

  /** What is listed: a line {@code mutant | reason}; lines that begin with # are for people. */
  private static Map<String, String> listed() throws IOException {
    Map<String, String> listed = new LinkedHashMap<>();
    try (InputStream in = RuleMutantsTest.class.getResourceAsStream(LISTED)) {
      for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
        if (line.isBlank() || line.startsWith("#")) {
          continue;
        }
        int bar = line.lastIndexOf(" | ");
        assertThat(bar).as("a reason in: %s", line).isPositive();
        assertThat(listed.put(line.substring(0, bar).strip(), line.substring(bar + 3).strip()))
            .as("listed twice: %s", line)
            .isNull();
      }
    }
    return listed;
  }

  @Test
  void everyWrongEditIsCaught() throws Exception {
    MutantCheck check = new MutantCheck(RULES, scenarios());
    Mutant none = new Mutant("", "nothing changed", "");
    assertThat(check.caughtBy(none, Set.copyOf(RULES.policies()), true))
        .as("the rules as they are")
        .isNull();
    Map<String, Set<String>> files = files();
    Map<String, String> listed = listed();
    listed.keySet().removeIf(edit -> ALL && !files.containsKey(edit.replaceFirst(":.*", "")));
    Map<Mutant, Future<String>> asked = new LinkedHashMap<>();
    Set<String> made = new HashSet<>();
    ExecutorService pool = Executors.newFixedThreadPool(THREADS);
    try {
      for (Map.Entry<String, Set<String>> file : files.entrySet()) {
        for (Mutant mutant :
            RuleMutants.of(file.getKey(), RULES.read(file.getKey()).orElseThrow())) {
          made.add(mutant.key());
          if (!ALL && made.size() % USUALLY_EVERY > 0) {
            continue;
          }
          boolean byAll = ALL || !listed.containsKey(mutant.key());
          Callable<String> run = () -> check.caughtBy(mutant, file.getValue(), byAll);
          asked.put(mutant, pool.submit(run));
        }
      }
      Map<String, String> caught = new LinkedHashMap<>();
      List<String> survived = new ArrayList<>();
      for (Map.Entry<Mutant, Future<String>> one : asked.entrySet()) {
        String by = one.getValue().get();
        if (by == null) {
          survived.add(one.getKey().key());
        } else {
          caught.put(one.getKey().key(), by);
        }
      }
      report(caught, survived);
      assertThat(survived)
          .as("wrong edits that no scenario notices, and that %s does not list", LISTED)
          .isSubsetOf(listed.keySet());
      assertThat(listed.keySet()).as("listed in %s, and made no more", LISTED).isSubsetOf(made);
      assertThat(caught.keySet())
          .as("listed in %s, and noticed", LISTED)
          .doesNotContainAnyElementsOf(listed.keySet());
    } finally {
      pool.shutdownNow();
    }
  }

  /** For people: which scenario notices what, and how many are left. */
  private static void report(Map<String, String> caught, List<String> survived) throws IOException {
    long unread =
        caught.values().stream().filter(by -> by.startsWith(MutantCheck.NOT_LOADED)).count();
    List<String> lines = new ArrayList<>();
    lines.add(
        "%d wrong edits: %d do not load, %d make a scenario fail, %d go unnoticed"
            .formatted(
                caught.size() + survived.size(), unread, caught.size() - unread, survived.size()));
    survived.forEach(s -> lines.add("UNNOTICED " + s));
    caught.forEach((mutant, by) -> lines.add("noticed " + mutant + " <- " + by));
    Path to = Path.of("target", "rule-mutants.txt");
    Files.createDirectories(to.getParent());
    Files.write(to, lines);
  }

  @Test
  void editsAreOfEveryKindAndEachIsMadeOnce() {
    String text =
        """
        // X9  Not 1 of these comments counts: a == b.

        rule "X9 one 1"
          @clause( X9 )
          ruleflow-group "wait"
          when
            $turn : Turn( first == false, $r : request )
            accumulate(
              Fit( request == $r, group.state == NodeState.UP, $g : group );
              $most : most_idle( $g ) )
            not Standing( capacity < 2 || $r == null )
            exists Start()
          then
            insert( new Wait( $turn, "a >= 1", null, "" ) );
        end
        """;
    assertThat(RuleMutants.of("w/X9.drl", text))
        .extracting(Mutant::what)
        .containsExactlyInAnyOrder(
            "left out",
            "condition lost: $turn : Turn( first == false, $r : request )",
            "condition lost: accumulate( Fit( request == $r, group.state == NodeState.UP,"
                + " $g : group ); $most : most_idle( $g ) )",
            "condition lost: not Standing( capacity < 2 || $r == null )",
            "condition lost: exists Start()",
            "lost in Turn: first == false",
            "lost in Turn: $r : request",
            "lost in Fit: request == $r",
            "lost in Fit: group.state == NodeState.UP",
            "lost in Fit: $g : group",
            "lost in Standing: capacity < 2 || $r == null",
            "alternative lost in Standing: capacity < 2",
            "alternative lost in Standing: $r == null",
            "first == false turned to !=",
            "request == $r turned to !=",
            "group.state == NodeState.UP turned to !=",
            "capacity < 2 turned to <=",
            "$r == null turned to !=",
            "capacity < 2 off by +1",
            "capacity < 2 off by -1",
            "first == false turned",
            "not lost: not Standing( capacity < 2 || $r == null )",
            "exists turned to not: exists Start()");
  }
}
