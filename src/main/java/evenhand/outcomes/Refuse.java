package evenhand.outcomes;

/**
 * A submission is refused.
 *
 * @param code stable, for programs: {@code NO_FIT_PLACEMENT}, {@code INVALID_REQUEST}, …
 * @param field the field of the submission that is at fault
 * @param message what was asked, why not, what would work
 */
public record Refuse(String code, String field, String message) implements Conclusion {}
