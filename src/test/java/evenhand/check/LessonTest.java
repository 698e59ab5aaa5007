package evenhand.check;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.policy.EditedRules;
import evenhand.policy.PolicyFault;
import evenhand.policy.RuleFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The lesson of {@code rules/README.md}, done as it is written there. */
class LessonTest {
  private static final Pattern BLOCK =
      Pattern.compile("<!-- lesson (.*?) -->\\n```(?:yaml)?\\n(.*?)```\\n", Pattern.DOTALL);
  private static final String YAML = "policies/reservation.yaml";

  @TempDir Path folder;
  private EditedRules rules;
  private Path scenarios;

  @BeforeEach
  void copy() throws IOException, PolicyFault {
    rules = EditedRules.in(folder.resolve("rules"));
    scenarios = Files.createDirectory(folder.resolve("scenarios"));
    // The lesson edits one policy as its file has it: the others, and parameters changed for one
    // scenario, are compilations that tell nothing here.
    for (String other : RuleFiles.of(Optional.of(rules.folder())).policies()) {
      if (!other.equals("reservation")) {
        Files.delete(rules.folder().resolve("policies/" + other + ".yaml"));
      }
    }
    for (Check.Text text : Check.texts(Optional.empty())) {
      Scenario scenario = ScenarioFile.read(text.file(), text.text());
      if (scenario.policy().equals("reservation") && scenario.settings().isEmpty()) {
        Files.writeString(scenarios.resolve(text.file()), text.text());
      }
    }
  }

  private static String block(String name) throws IOException {
    Matcher m = BLOCK.matcher(Files.readString(Path.of("rules/README.md")));
    while (m.find()) {
      if (m.group(1).equals(name)) {
        return m.group(2);
      }
    }
    throw new AssertionError("the lesson has no block " + name);
  }

  private List<String> failing() {
    List<String> failing = new ArrayList<>();
    new Check(RuleFiles.of(Optional.of(rules.folder())))
        .run(
            Optional.of(scenarios),
            result -> {
              if (!result.passed()) {
                failing.add(result.name());
              }
            });
    return failing;
  }

  @Test
  void packingTightlyIsOneLineAndOneScenarioSaysOtherwise() throws IOException {
    String keys = block("1: in policies/reservation.yaml put");
    assertThat(keys).contains("[tier_desc, idle_asc, node_asc]");
    String text = Files.readString(rules.folder().resolve(YAML));
    Matcher preference =
        Pattern.compile("  preference:\\n    clause: D1\\n    keys: .*\\n").matcher(text);
    assertThat(preference.find()).isTrue();
    Files.writeString(
        rules.folder().resolve(YAML),
        text.substring(0, preference.start()) + keys + text.substring(preference.end()));
    assertThat(failing()).containsExactly("D1-1-the-better-tier-first.yaml");
    Path scenario = scenarios.resolve("D1-1-the-better-tier-first.yaml");
    String told = Files.readString(scenario);
    Files.writeString(
        scenario,
        told.substring(0, told.indexOf("    expect:"))
            + block("1: expect in D1-1-the-better-tier-first.yaml"));
    assertThat(failing()).isEmpty();
  }

  @Test
  void noReservationAtNightIsAVeto() throws IOException {
    Files.writeString(
        scenarios.resolve("H1-no-reservation-at-night.yaml"),
        block("2: scenario H1-no-reservation-at-night.yaml"));
    assertThat(failing()).containsExactly("H1-no-reservation-at-night.yaml");
    Files.writeString(rules.folder().resolve("reservation/H1.drl"), block("2: reservation/H1.drl"));
    rules.edit(YAML, "  - reservation/R2\n", "  - reservation/R2\n  - reservation/H1\n");
    assertThat(failing()).isEmpty();
  }

  @Test
  void oneTierForOneAccountIsOneConditionOfFit() throws IOException {
    Files.writeString(
        scenarios.resolve("H2-h200-is-of-vision.yaml"),
        block("3: scenario H2-h200-is-of-vision.yaml"));
    assertThat(failing()).containsExactly("H2-h200-is-of-vision.yaml");
    Files.writeString(rules.folder().resolve("fit/H2.drl"), block("3: fit/H2.drl"));
    rules.edit(YAML, "  - fit/F1\n", "  - fit/H2\n");
    assertThat(failing()).isEmpty();
  }
}
