/**
 * The REST API under {@code /v1}, over {@link evenhand.cycle.Desk}.
 *
 * <p>Bodies are read strictly: a field nobody knows, a wrong kind or a value out of bounds is
 * refused with its path and what would be right. Every error is {@code application/problem+json}
 * with a stable {@code code}; none shows the inside of the service. JSON is snake_case, durations
 * end in their unit, lists come in parts of {@code limit} with an opaque {@code cursor}. Nothing
 * here decides anything or keeps anything.
 */
package evenhand.api;
