package evenhand.sandbox;

import java.time.Duration;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Hands the class's one {@link SlurmSandbox} to whoever asks for it, and closes it with the class.
 */
final class SlurmSandboxExtension implements ParameterResolver {
  private static final ExtensionContext.Namespace OURS =
      ExtensionContext.Namespace.create(SlurmSandboxExtension.class);

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == SlurmSandbox.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    ExtensionContext classContext = annotatedClass(context);
    // JUnit closes AutoCloseable values of a context's store when that context ends.
    return classContext
        .getStore(OURS)
        .computeIfAbsent(
            SlurmSandbox.class,
            key -> start(classContext.getRequiredTestClass()),
            SlurmSandbox.class);
  }

  private static SlurmSandbox start(Class<?> testClass) {
    RealSlurm wanted =
        AnnotationSupport.findAnnotation(testClass, RealSlurm.class)
            .orElseThrow(() -> new IllegalStateException("@RealSlurm is missing on " + testClass));
    return SlurmSandbox.builder()
        .minJobAge(Duration.ofSeconds(wanted.minJobAgeSeconds()))
        .slurmdTimeout(Duration.ofSeconds(wanted.slurmdTimeoutSeconds()))
        .messageTimeout(Duration.ofSeconds(wanted.messageTimeoutSeconds()))
        .memoryLimits(wanted.memoryLimits())
        .extraNodes(wanted.extraNodes())
        .start();
  }

  /**
   * The outermost class context that carries the annotation, so that nested classes share the
   * cluster.
   */
  private static ExtensionContext annotatedClass(ExtensionContext context) {
    ExtensionContext found = null;
    for (ExtensionContext c = context; c != null; c = c.getParent().orElse(null)) {
      boolean ofClass = c.getTestClass().isPresent() && c.getTestMethod().isEmpty();
      if (ofClass && AnnotationSupport.isAnnotated(c.getRequiredTestClass(), RealSlurm.class)) {
        found = c;
      }
    }
    if (found == null) {
      throw new IllegalStateException("a SlurmSandbox parameter needs @RealSlurm on its class");
    }
    return found;
  }
}
