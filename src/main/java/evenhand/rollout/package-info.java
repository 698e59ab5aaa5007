/**
 * How a policy comes into force: edited, checked, planned, applied, and taken back.
 *
 * <p>One row of the database says which policy decides; every process looks at it before each of
 * its cycles and exchanges its own between two of them. What is not right changes nothing: the
 * policy in force goes on. A plan tells beforehand what a candidate would decide otherwise on
 * recorded decisions, and what it would do to waits and GPU time in a simulation, held against
 * guard rails; a shadow decides beside the policy in force and is never carried out. Durable state
 * lies behind {@link evenhand.rollout.RolloutBook}.
 */
package evenhand.rollout;
