package evenhand.slurm;

import evenhand.cycle.SubmitOrder;
import java.util.Optional;

/** Where Slurm writes the output of what was given to it. */
public final class Outputs {
  private final SlurmSettings settings;

  Outputs(SlurmSettings settings) {
    this.settings = settings;
  }

  /** Its path on the cluster; empty where the script names it itself. */
  public Optional<String> of(SubmitOrder order) {
    try {
      LocalUsers.LocalUser as =
          settings.asUser() && order.workdir() == null
              ? new LocalUsers(settings).find(order.user())
              : null;
      if (ScriptOptions.read(order.script(), settings.scriptOptions()).contains("output")) {
        return Optional.empty();
      }
      String name = SbatchCommand.output(order, settings);
      return Optional.of(
          name.startsWith("/") ? name : SbatchCommand.workdir(order, settings, as) + "/" + name);
    } catch (IllegalArgumentException e) {
      return Optional.empty(); // taken under other settings than those of today
    }
  }
}
