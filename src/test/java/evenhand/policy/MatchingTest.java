package evenhand.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What may be kept between cycles hangs on what rules look at, and an edit may forbid it. */
class MatchingTest {
  @TempDir Path folder;

  private static Matching of(Optional<Path> rules, String policy) throws Exception {
    return Matching.of(Policies.read(RuleFiles.of(rules), policy, Map.of()));
  }

  private Matching edited(String file, String old, String changed) throws Exception {
    Path copy = Files.createTempDirectory(folder, "rules");
    EditedRules rules = EditedRules.in(copy).edit(file, old, changed);
    return of(Optional.of(rules.folder()), "budget");
  }

  @Test
  void policiesOfOursKeepWhatTheyCan() throws Exception {
    for (String name : List.of("budget", "budget-slices")) {
      assertThat(of(Optional.empty(), name)).isEqualTo(new Matching(true, true, true, true));
    }
    // D3 looks for idle GPUs to reserve.
    assertThat(of(Optional.empty(), "reservation"))
        .isEqualTo(new Matching(true, true, true, false));
    for (String name : List.of("skip", "fifo", "priority")) {
      assertThat(of(Optional.empty(), name).cyclesGoOn()).as(name).isTrue();
    }
  }

  @Test
  void settingsDoNotStayWhereARuleMatchesNothingElse() throws Exception {
    assertThat(edited("charging/C5.drl", "Moment()", "Setting( name == \"lookback\" )"))
        .isEqualTo(new Matching(true, false, false, true));
  }

  @Test
  void aRuleThatMatchesNoFactOfTheCycleEndsItWithTheCycle() throws Exception {
    assertThat(edited("fit/V1.drl", "Turn( $r : request )", "$r : Request()"))
        .isEqualTo(new Matching(true, true, false, true));
  }

  @Test
  void placementsAreNotJudgedAloneWhereOneLooksAtAnother() throws Exception {
    assertThat(
            edited(
                    "fit/V1.drl",
                    "$p : Placement( group == $g, idle >= $r.numGpus )",
                    "$p : Placement( group == $g, idle >= $r.numGpus )\n"
                        + "    not Placement( idle == 7 )")
                .availableAlone())
        .isFalse();
    assertThat(
            edited(
                    "dispatch/D1.drl",
                    "$turn : Turn( request.nodes == 1 )",
                    "$turn : Turn( request.nodes == 1 )\n    exists Placement( idle == 7 )")
                .availableAlone())
        .isFalse();
  }

  @Test
  void turnsAreToldApartWhereAvailabilityLooksAtThem() throws Exception {
    assertThat(
            edited("fit/V1.drl", "Turn( $r : request )", "Turn( $r : request, first == true )")
                .availableAlone())
        .isFalse();
  }
}
