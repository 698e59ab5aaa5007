package evenhand.cycle;

import java.util.List;
import java.util.Map;

/**
 * A submission of which a test cares for a few parts only: one node, one GPU of any tier, for
 * account {@code bcg}, no minimum run time, and a script that does nothing, unless said otherwise.
 * Immutable.
 */
public record SomeJob(
    String account,
    int nodes,
    int gpus,
    String tier,
    long minimumSeconds,
    boolean resumable,
    Long timeLimitSeconds,
    String script,
    String workdir) {

  /** One GPU of any tier. */
  public static final SomeJob PLAIN =
      new SomeJob("bcg", 1, 1, null, 0, false, null, "#!/bin/sh\n", null);

  public SomeJob of(String payer) {
    return new SomeJob(
        payer, nodes, gpus, tier, minimumSeconds, resumable, timeLimitSeconds, script, workdir);
  }

  /** So many GPUs of that tier; null for any. */
  public SomeJob on(int many, String ofTier) {
    return new SomeJob(
        account, nodes, many, ofTier, minimumSeconds, resumable, timeLimitSeconds, script, workdir);
  }

  /** On so many nodes. */
  public SomeJob nodes(int many) {
    return new SomeJob(
        account, many, gpus, tier, minimumSeconds, resumable, timeLimitSeconds, script, workdir);
  }

  /** Protected for so long. */
  public SomeJob minimum(long seconds) {
    return new SomeJob(
        account, nodes, gpus, tier, seconds, resumable, timeLimitSeconds, script, workdir);
  }

  public SomeJob resumable(boolean can) {
    return new SomeJob(
        account, nodes, gpus, tier, minimumSeconds, can, timeLimitSeconds, script, workdir);
  }

  /** Runs this script in this folder, an hour at most. */
  public SomeJob runs(String text, String in) {
    return new SomeJob(account, nodes, gpus, tier, minimumSeconds, resumable, 3600L, text, in);
  }

  public NewJob made() {
    return new NewJob(
        "job",
        account,
        "kim",
        null,
        nodes,
        gpus,
        tier,
        null,
        minimumSeconds,
        resumable,
        0,
        timeLimitSeconds,
        script,
        List.of(),
        Map.of(),
        workdir);
  }
}
