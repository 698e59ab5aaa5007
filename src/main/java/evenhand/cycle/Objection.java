package evenhand.cycle;

/**
 * Why the cluster would not take a submission, whatever the policy says of it.
 *
 * @param field of the submission that is at fault: {@code script}, {@code args}, {@code env}, …
 * @param message what is at fault, why, and what would work
 */
public record Objection(String field, String message) {}
