package evenhand.outcomes;

/** Something the submitter is told about an accepted or refused submission. */
public record Remark(String message) implements Conclusion {}
