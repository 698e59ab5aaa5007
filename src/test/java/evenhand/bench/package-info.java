/**
 * Benchmarks: how long deciding takes, beside a plain-Java reading of the same clauses in the same
 * run. Run by {@code mvn -Pbench}, never by the tests.
 */
package evenhand.bench;
