/**
 * Scenarios: small worlds with what must happen in them, and the check that runs them.
 *
 * <p>A scenario is run by the service's own cycle on a cluster and a store in memory; only time and
 * the cluster are made up. Policies are checked with them before they go live, and auditors read
 * them as the worked examples of the clauses.
 */
package evenhand.check;
