package evenhand.outcomes;

import evenhand.facts.Share;

/** B2: the LLM router shall give up these GPUs for this job. */
public record Yield(String job, String node, String tier, int gpus) implements Conclusion {

  public Yield(Start start, Share share) {
    this(start.job(), share.node(), share.tier().name(), share.gpus());
  }
}
