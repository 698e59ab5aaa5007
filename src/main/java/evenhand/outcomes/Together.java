package evenhand.outcomes;

import evenhand.facts.Turn;

/** The job starts now, on all the nodes of a gang together, with so many GPUs on each. */
public record Together(String job, Gang gang, int gpus, Boolean allocated) implements Conclusion {
  public Together(Turn turn, Gang gang) {
    this(turn.job(), gang, turn.request().numGpus(), turn.request().allocated());
  }
}
