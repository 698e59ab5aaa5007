package evenhand.outcomes;

/** A running job gives its GPUs up to another (K4). */
public record Preempt(String job, String forJob) implements Outcome {}
