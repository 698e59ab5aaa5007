package evenhand.outcomes;

import evenhand.facts.Share;

/** B2: the LLM router shall give up these GPUs for this job. */
public record Yield(String job, String node, String tier, int gpus) implements Conclusion {

  public Yield(Start start, Share share) {
    this(start.job(), share.node(), share.tier().name(), share.gpus());
  }

  /** What is asked, to go on with after "to": {@code give up 2 GPUs of n1 (4090) for job 5}. */
  public String asked() {
    return "give up "
        + (gpus == 1 ? "1 GPU" : gpus + " GPUs")
        + " of "
        + node
        + " ("
        + tier
        + ") for job "
        + job;
  }
}
