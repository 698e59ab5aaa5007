/**
 * What rules conclude. A rule's consequence inserts a {@link evenhand.outcomes.Conclusion} and does
 * nothing else; the shell carries out those that are an {@link evenhand.outcomes.Outcome}.
 *
 * <p>Outcomes become lines of the recorded decision, in the order in which they were decided. The
 * other conclusions are steps on the way (fits, is available, may not) that later stages build on.
 */
package evenhand.outcomes;
