package evenhand.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A value that would silently switch its clause off is refused, as one that means nothing is. */
class WindowsTest {

  @ParameterizedTest
  @CsvSource({
    "lookback,0",
    "lookback,0d",
    "lookback,always",
    "lookback,-1d",
    "lookback,Infinity",
    "charge_unit,gpus",
    "preempt_window,0",
    "preempt_window,0m",
    "preempt_window,soon",
    "preempt_window,NaN",
    "preempt_window,Infinity",
    "max_min_runtime,0",
    "max_min_runtime,0h",
    "grace,-1s",
    "grace,soon",
    "grace,Infinity",
    "max_gpus_per_node,0",
    "preemption_margin,Infinity",
    "preemption_margin,-0.05",
    "preemption_margin,none"
  })
  void isRefusedAndNamed(String name, String value) {
    PolicyFault fault =
        assertThrows(
            PolicyFault.class,
            () -> Policies.load(Optional.empty(), "budget", Map.of(name, value)));
    assertTrue(fault.getMessage().contains("parameter " + name), fault.getMessage());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "lookback",
        "max_min_runtime",
        "max_gpus_per_node",
        "grace",
        "preempt_window",
        "preemption_margin",
        "gang_reservation",
        "reservation_margin",
        "forced_release_charge"
      })
  void isRefusedWhereItIsMissing(String name) {
    PolicyFault fault =
        assertThrows(
            PolicyFault.class, () -> Policies.load(without(name), "budget", Map.of()), name);
    assertTrue(fault.getMessage().contains("\"" + name + "\""), fault.getMessage());
  }

  /** The rules, but that policy budget does not give this parameter. */
  private static RuleFiles without(String parameter) throws PolicyFault {
    Map<String, String> texts = new HashMap<>(RuleFiles.of(Optional.empty()).copy().texts());
    texts.computeIfPresent(
        "policies/budget.yaml",
        (path, text) -> text.replaceFirst("(?m)^  " + parameter + ":\\n(    .*\\n)+", ""));
    return new RuleFiles.Stored(texts);
  }

  @Test
  void realOnesAreTaken() throws PolicyFault {
    Policies.load(Optional.empty(), "budget", Map.of("lookback", "1d", "preempt_window", "15m"));
    Policy policy = Policies.load(Optional.empty(), "budget", Map.of("charge_unit", "tflop_s"));
    assertEquals(ChargeUnit.TFLOP_S, policy.chargeUnit());
    Policies.load(Optional.empty(), "budget-slices", Map.of("preempt_window", "always"));
    Policies.load(Optional.empty(), "budget", Map.of("grace", "0", "max_min_runtime", "1.5h"));
  }
}
