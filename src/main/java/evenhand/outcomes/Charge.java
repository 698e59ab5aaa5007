package evenhand.outcomes;

/** An account pays for what one job held (C3, C4). */
public record Charge(String account, String job, double tflopSeconds) implements Outcome {}
