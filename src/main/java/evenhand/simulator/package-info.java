/**
 * A cluster, a memory and a clock without an outside: what scenarios, the simulator, the demo and
 * tests put behind the cycle's ports instead of Slurm, PostgreSQL and the wall clock.
 *
 * <p>The cycle and the policy that run on them are the ones of the live service, unchanged.
 */
package evenhand.simulator;
