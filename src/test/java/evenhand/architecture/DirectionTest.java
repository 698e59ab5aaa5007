package evenhand.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import java.util.List;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Packages know one another in one direction only: api, cli → cycle → policy → facts, outcomes. */
class DirectionTest {
  private static final JavaClasses ALL =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("evenhand");

  @TestFactory
  List<DynamicTest> eachPackageKnowsOnlyWhatLiesBelow() {
    return List.of(
        knows("facts", "facts"),
        knows("outcomes", "outcomes", "facts"),
        knows("input", "input"),
        knows("hostlist", "hostlist"),
        knows("access", "access"),
        knows("json", "json", "facts", "outcomes", "input"),
        knows("policy", "policy", "facts", "outcomes", "input"),
        knows("explain", "explain", "policy", "facts", "outcomes"),
        knows("cycle", "cycle", "explain", "policy", "facts", "outcomes"),
        knows("slurm", "slurm", "cycle", "facts", "outcomes", "hostlist"),
        knows("store", "store", "access", "rollout", "cycle", "facts", "outcomes"),
        knows("router", "router", "cycle", "outcomes"),
        knows("webhook", "webhook", "cycle"),
        knows(
            "simulator", "simulator", "cycle", "policy", "facts", "outcomes", "hostlist", "input"),
        knows(
            "check",
            "check",
            "explain",
            "json",
            "simulator",
            "cycle",
            "policy",
            "facts",
            "outcomes",
            "input",
            "hostlist"),
        knows(
            "rollout",
            "rollout",
            "check",
            "simulator",
            "cycle",
            "policy",
            "facts",
            "outcomes",
            "input"),
        knows(
            "api",
            "api",
            "access",
            "rollout",
            "explain",
            "cycle",
            "policy",
            "json",
            "input",
            "facts",
            "outcomes"));
  }

  private static DynamicTest knows(String name, String... known) {
    String[] allowed = new String[known.length + 1];
    for (int i = 0; i < known.length; i++) {
      allowed[i] = "evenhand." + known[i] + "..";
    }
    allowed[known.length] = "evenhand"; // the entry point's own package holds nothing to know
    ArchRule rule =
        noClasses()
            .that()
            .resideInAPackage("evenhand." + name + "..")
            .should()
            .dependOnClassesThat(
                com.tngtech.archunit.base.DescribedPredicate.describe(
                    "are evenhand's and not in " + String.join(", ", known),
                    c ->
                        c.getPackageName().startsWith("evenhand")
                            && java.util.Arrays.stream(known)
                                .noneMatch(
                                    k ->
                                        c.getPackageName().equals("evenhand." + k)
                                            || c.getPackageName()
                                                .startsWith("evenhand." + k + "."))))
            .allowEmptyShould(true);
    return DynamicTest.dynamicTest(name, () -> rule.check(ALL));
  }

  @Test
  void onlyThePolicyKnowsTheRuleEngine() {
    noClasses()
        .that()
        .resideOutsideOfPackage("evenhand.policy..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.drools..", "org.kie..", "org.mvel2..")
        .check(ALL);
  }

  @Test
  void onlyTheAdaptersKnowTheirOutside() {
    noClasses()
        .that()
        .resideOutsideOfPackages("evenhand.store..", "evenhand.service..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.springframework.jdbc..", "java.sql..", "org.postgresql..")
        .check(ALL);
    noClasses()
        .that()
        .resideOutsideOfPackages("evenhand.slurm..")
        .should()
        .dependOnClassesThat()
        .haveFullyQualifiedName("java.lang.ProcessBuilder")
        .check(ALL);
  }

  @Test
  void noPackagesGoRoundInACircle() {
    SlicesRuleDefinition.slices().matching("evenhand.(*)..").should().beFreeOfCycles().check(ALL);
  }

  @Test
  void nobodyReadsTheClockBesideTheBean() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "evenhand.facts..",
            "evenhand.outcomes..",
            "evenhand.policy..",
            "evenhand.cycle..",
            "evenhand.simulator..",
            "evenhand.rollout..",
            "evenhand.access..",
            "evenhand.store..")
        .should()
        .callMethod(java.time.Instant.class, "now")
        .orShould()
        .callMethod(System.class, "currentTimeMillis")
        .check(ALL);
  }
}
