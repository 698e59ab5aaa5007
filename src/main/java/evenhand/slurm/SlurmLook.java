package evenhand.slurm;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Whether Slurm's commands do here what the service needs of them. */
public final class SlurmLook {
  private static final Pattern SDIAG = Pattern.compile("sdiag output at .*\\(([0-9]+)\\)");
  private static final Pattern TIMEOUT = Pattern.compile("MessageTimeout\\s*=\\s*([0-9]+)");

  private final SlurmSettings settings;
  private final Client client;
  private final Clock clock;

  public SlurmLook(SlurmSettings settings, Clock clock) {
    this.settings = settings;
    this.client = new Client(settings);
    this.clock = clock;
  }

  /**
   * What was found of one thing.
   *
   * @param works whether the service can do with it
   * @param mend what to do about it, or null
   */
  public record Seen(String what, boolean works, String found, String mend) {}

  /** Looks at each command, the controller, its clock, and how long it is waited for. */
  public List<Seen> look() {
    List<Seen> seen = new ArrayList<>();
    for (String command : List.of("sbatch", "squeue", "scontrol", "scancel")) {
      Client.Answer answer = client.run(List.of(command, "--version"));
      seen.add(
          new Seen(
              "slurm " + command,
              answer.ok(),
              answer.ok() ? answer.out().strip() : answer.sentence(),
              answer.ok()
                  ? null
                  : "install Slurm's client commands, or say where they are: evenhand.slurm.bin"));
      if (!answer.ok()) {
        return seen;
      }
    }
    Client.Answer nodes = client.run(List.of("scontrol", "-a", "-d", "-o", "show", "node"));
    long shown = nodes.out().lines().filter(line -> line.startsWith("NodeName=")).count();
    boolean works = nodes.ok() && shown > 0;
    seen.add(
        new Seen(
            "slurm controller",
            works,
            works ? "it shows " + shown + " nodes" : nodes.sentence(),
            works
                ? null
                : "see whether slurmctld runs, and whether slurm.conf ("
                    + (settings.conf() == null ? "where Slurm finds one" : settings.conf())
                    + ") and munge's key are those of the cluster"));
    if (works) {
      clock(seen);
      patience(seen);
    }
    return seen;
  }

  private void clock(List<Seen> seen) {
    Instant before = clock.instant();
    Client.Answer answer = client.run(List.of("sdiag"));
    Instant after = clock.instant();
    Matcher m = SDIAG.matcher(answer.out());
    if (!answer.ok() || !m.find()) {
      return; // a Slurm that does not say it
    }
    Instant theirs = Instant.ofEpochSecond(Long.parseLong(m.group(1)));
    Duration apart =
        theirs.isAfter(after)
            ? Duration.between(after, theirs)
            // Slurm's times are whole seconds, cut off.
            : theirs.plusSeconds(1).isBefore(before)
                ? Duration.between(theirs.plusSeconds(1), before)
                : Duration.ZERO;
    boolean near = apart.toSeconds() < 2;
    seen.add(
        new Seen(
            "slurm clock",
            near,
            near
                ? "the controller's clock agrees with this host's"
                : "the controller's clock is " + apart.toSeconds() + " s from this host's",
            near ? null : "have both follow the same time server (chrony, ntpd)"));
  }

  private void patience(List<Seen> seen) {
    Matcher m = TIMEOUT.matcher(client.run(List.of("scontrol", "show", "config")).out());
    if (!m.find()) {
      return;
    }
    int seconds = Integer.parseInt(m.group(1));
    boolean shorter = seconds < settings.timeout().toSeconds();
    seen.add(
        new Seen(
            "slurm MessageTimeout",
            shorter,
            seconds + " s; commands are stopped after " + settings.timeout().toSeconds() + " s",
            shorter ? null : "set evenhand.slurm.timeout longer than MessageTimeout"));
  }
}
