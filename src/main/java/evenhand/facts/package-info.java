/**
 * What the rules read: immutable records about the cluster, the accounts and the jobs at one
 * moment.
 *
 * <p>A {@link evenhand.facts.Snapshot} is all that one cycle knows. Times are instants in UTC,
 * durations are seconds, money is TFLOP-seconds (GPUs x seconds x TFLOPS of the tier). A changed
 * placement is a new fact in place of the old one; nothing here is ever updated. This package
 * depends on nothing but the JDK, so that a rule can be understood without the service around it.
 */
package evenhand.facts;
