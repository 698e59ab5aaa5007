package evenhand.cycle;

import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A submission of which a test cares for a few parts only: one node, one GPU of any tier, for
 * account {@code bcg}, no minimum run time, and a script that does nothing, unless said otherwise.
 * Immutable.
 */
public final class SomeJob implements Cloneable {
  /** One GPU of any tier, not resumable. */
  public static final SomeJob PLAIN = new SomeJob();

  private String name = "job";
  private String account = "bcg";
  private String user = "kim";
  private int nodes = 1;
  private int gpus = 1;
  private String tier;
  private String minimumTier;
  private long minimumSeconds;
  private boolean resumable;
  private Long limitSeconds;
  private String script = "#!/bin/sh\n";
  private String workdir;

  private SomeJob() {}

  private SomeJob with(Consumer<SomeJob> change) {
    try {
      SomeJob copy = (SomeJob) clone();
      change.accept(copy);
      return copy;
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException(e);
    }
  }

  public SomeJob named(String other) {
    return with(j -> j.name = other);
  }

  public SomeJob of(String payer) {
    return with(j -> j.account = payer);
  }

  public SomeJob by(String submitter) {
    return with(j -> j.user = submitter);
  }

  /** So many GPUs of that tier; null for any. */
  public SomeJob on(int many, String ofTier) {
    return with(
        j -> {
          j.gpus = many;
          j.tier = ofTier;
        });
  }

  /** On that tier or a better one. */
  public SomeJob atLeast(String lowest) {
    return with(j -> j.minimumTier = lowest);
  }

  /** On so many nodes. */
  public SomeJob nodes(int many) {
    return with(j -> j.nodes = many);
  }

  /** Protected for so long. */
  public SomeJob minimum(long seconds) {
    return with(j -> j.minimumSeconds = seconds);
  }

  public SomeJob resumable(boolean can) {
    return with(j -> j.resumable = can);
  }

  /** Ended after so many seconds. */
  public SomeJob limit(long seconds) {
    return with(j -> j.limitSeconds = seconds);
  }

  public SomeJob runs(String text) {
    return with(j -> j.script = text);
  }

  /** Runs this script in this folder, an hour at most. */
  public SomeJob runs(String text, String in) {
    return runs(text).limit(3600).with(j -> j.workdir = in);
  }

  public NewJob made() {
    return new NewJob(
        name,
        account,
        user,
        null,
        nodes,
        gpus,
        tier,
        minimumTier,
        minimumSeconds,
        resumable,
        0,
        limitSeconds,
        script,
        List.of(),
        Map.of(),
        workdir);
  }
}
