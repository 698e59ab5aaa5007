package evenhand.sandbox;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Marks a test class that runs against a real Slurm cluster. Its constructor, tests and lifecycle
 * methods may take a {@link SlurmSandbox} parameter: one cluster for the whole class, started at
 * first use and closed after the last test.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@NeedsReal(RealParts.SLURM)
@ExtendWith(SlurmSandboxExtension.class)
public @interface RealSlurm {

  /** How long Slurm remembers a finished job, in seconds. */
  int minJobAgeSeconds() default 300;

  /** Sets how soon Slurm notices a dead node (about twice this), in seconds. */
  int slurmdTimeoutSeconds() default 15;

  /** How long daemons and clients wait for each other's answers, in seconds. */
  int messageTimeoutSeconds() default 10;

  /** Enforce memory limits, so that jobs can end OUT_OF_MEMORY. */
  boolean memoryLimits() default false;

  /** Nodes beside n1 to n4, named x1, x2, …, with four 4090 each. */
  int extraNodes() default 0;
}
