/**
 * Real parts for tests: a Slurm cluster on loopback that a test starts and stops, and the rule that
 * says what happens where such a part isn't installed.
 *
 * <p>Start at {@link evenhand.sandbox.RealSlurm}: a test class that carries it gets a running
 * {@link evenhand.sandbox.SlurmSandbox} as a parameter. On a developer's machine without Slurm the
 * class is skipped and says why; in CI it fails, so that a green build always means that the real
 * thing was tried.
 */
package evenhand.sandbox;
