package evenhand.sandbox;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** Runs, skips or fails a test by the real parts that its annotations name. */
final class NeedsRealCondition implements ExecutionCondition {

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    List<RealParts> needed = new ArrayList<>();
    context
        .getElement()
        .ifPresent(
            element -> {
              AnnotationSupport.findAnnotation(element, NeedsReal.class)
                  .ifPresent(a -> needed.addAll(List.of(a.value())));
              AnnotationSupport.findAnnotation(element, RealSlurm.class)
                  .filter(RealSlurm::memoryLimits)
                  .ifPresent(a -> needed.add(RealParts.SLURM_MEMORY_LIMITS));
            });
    for (RealParts part : needed) {
      ConditionEvaluationResult result = judge(part, part.availability(), RealParts.required());
      if (result.isDisabled()) {
        return result;
      }
    }
    return ConditionEvaluationResult.enabled("every real part is here");
  }

  static ConditionEvaluationResult judge(
      RealParts part, Availability availability, boolean required) {
    String reason = RealParts.SKIP_PREFIX + part + ": " + availability.sentence();
    return switch (RealParts.verdict(availability.present(), required)) {
      case RUN -> ConditionEvaluationResult.enabled(availability.sentence());
      case SKIP -> ConditionEvaluationResult.disabled(reason);
      // An exception from a condition fails the class or method that it guards.
      case FAIL ->
          throw new IllegalStateException(
              reason
                  + " -- and may not be skipped here (CI=true or evenhand.requireRealParts=true)");
    };
  }
}
