package evenhand.check;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.policy.RuleFiles;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Every scenario under {@code fixtures/scenarios} goes as written, on the rules as they are. */
class ScenariosTest {
  private final Check check = new Check(RuleFiles.of(Optional.empty()));

  @TestFactory
  List<DynamicTest> all() {
    List<DynamicTest> tests = new ArrayList<>();
    for (Check.Text text : Check.texts(Optional.empty())) {
      tests.add(
          DynamicTest.dynamicTest(
              text.file(), () -> assertThat(check.run(text).differences()).isEmpty()));
    }
    return tests;
  }
}
