package evenhand.outcomes;

/** B2: the LLM router shall give up these GPUs for this job. */
public record Yield(String job, String node, String tier, int gpus) implements Conclusion {}
