package evenhand.outcomes;

/** C5: what is held is charged times this. */
public record Factor(double value) implements Conclusion {}
