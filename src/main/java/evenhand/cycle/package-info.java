/**
 * The thin shell around the policy: one dispatch cycle, and the ports to the world it needs.
 *
 * <p>A cycle reads the cluster, follows the jobs it started, makes a snapshot, lets the policy
 * decide, records decision, effects and orders in one transaction, and then carries the orders out.
 * It knows the cluster, the store, the router and the clock by the interfaces in this package only;
 * adapters implement them and never know one another.
 */
package evenhand.cycle;
