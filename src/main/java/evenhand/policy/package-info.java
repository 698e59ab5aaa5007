/**
 * The policy: a pure function from a snapshot to a decision, made of rule files and parameters.
 *
 * <p>The only package that knows the rule engine. It loads a policy (read, hash, lint, compile),
 * gives jobs their turns, and applies what the rules conclude to its own picture of the cluster.
 * Nothing here reads a clock, a file while deciding, a database or Slurm: the same snapshot and the
 * same rules give the same bytes.
 */
package evenhand.policy;
