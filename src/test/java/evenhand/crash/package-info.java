/**
 * What holds when things die: the service as a process of its own, on a real PostgreSQL and, where
 * it matters, a real Slurm, is killed, frozen and cut off, and afterwards every job has run once,
 * none is forgotten and the books add up.
 */
package evenhand.crash;
