package evenhand.cycle;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A submission of which a test cares for a few parts only: one node, one GPU of any tier, for
 * account {@code bcg}, and a script that does nothing, unless said otherwise. Immutable.
 */
public record SomeJob(
    String account,
    int gpus,
    String tier,
    boolean resumable,
    Long timeLimitSeconds,
    String script,
    String workdir) {

  /** One GPU of any tier. */
  public static final SomeJob PLAIN = new SomeJob("bcg", 1, null, false, null, "#!/bin/sh\n", null);

  public SomeJob of(String payer) {
    return new SomeJob(payer, gpus, tier, resumable, timeLimitSeconds, script, workdir);
  }

  /** So many GPUs of that tier; null for any. */
  public SomeJob on(int many, String ofTier) {
    return new SomeJob(account, many, ofTier, resumable, timeLimitSeconds, script, workdir);
  }

  public SomeJob resumable(boolean can) {
    return new SomeJob(account, gpus, tier, can, timeLimitSeconds, script, workdir);
  }

  /** Runs this script in this folder, an hour at most. */
  public SomeJob runs(String text, String in) {
    long limit = Duration.ofHours(1).toSeconds();
    return new SomeJob(account, gpus, tier, resumable, limit, text, in);
  }

  public NewJob made() {
    return new NewJob(
        "job",
        account,
        "kim",
        null,
        1,
        gpus,
        tier,
        null,
        0,
        resumable,
        0,
        timeLimitSeconds,
        script,
        List.of(),
        Map.of(),
        workdir);
  }
}
