package evenhand.outcomes;

import evenhand.facts.Running;

/** This work may be ended for the job that has claimed its GPUs (G3). */
public record Leaves(Running running) implements Conclusion {}
