package evenhand.slurm;

import evenhand.cycle.Cancellation;
import evenhand.cycle.Cluster;
import evenhand.cycle.Reading;
import evenhand.cycle.Release;
import evenhand.cycle.SeenJob;
import evenhand.cycle.Submission;
import evenhand.cycle.SubmitOrder;
import evenhand.cycle.Token;
import evenhand.slurm.text.Accounting;
import evenhand.slurm.text.Job;
import evenhand.slurm.text.Jobs;
import evenhand.slurm.text.SbatchAnswer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Slurm, by its commands on this host.
 *
 * <p>Each call runs a few commands, each for at most {@link SlurmSettings#timeout}. One thread at a
 * time may read; the other calls may come beside it.
 */
public final class SlurmCluster implements Cluster {
  private static final Logger log = LoggerFactory.getLogger(SlurmCluster.class);

  /** A controller that has just come back may answer a question before it takes an older order. */
  private static final Duration SECOND_LOOK = Duration.ofSeconds(1);

  private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,9}");
  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss").withZone(ZoneOffset.UTC);

  private static final int MOST_USERS = 20_000;
  private static final int MOST_NAMED = 100_000;

  private final SlurmSettings settings;
  private final Clock clock;
  private final Client client;
  private final Map<String, String> inherited;
  private final SeenNodes nodes;

  /** Exit codes that had to be asked for singly, by number and name of the job. */
  private final Map<String, SeenJob> asked = new HashMap<>();

  private volatile int strangeRows;
  private Function<Token, String> userOf = token -> null;

  /** Whose the attempts are that were asked about lately. */
  private final Map<Token, String> users = latest(MOST_USERS);

  /**
   * Our jobs as they were seen before, by number. A job may change its own name (scontrol update),
   * and must not escape its bill, nor be lost, by that.
   */
  private final Map<String, Named> named = latest(MOST_NAMED);

  /**
   * @param submittedAt with the number tells a job from another that has its number later
   */
  private record Named(String name, Instant submittedAt) {}

  /** A map that forgets what was not asked for longest. */
  private static <K, V> Map<K, V> latest(int most) {
    return Collections.synchronizedMap(
        new LinkedHashMap<>(16, 0.75f, true) {
          private static final long serialVersionUID = 1L;

          @Override
          protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
            return size() > most;
          }
        });
  }

  public SlurmCluster(SlurmSettings settings, Clock clock) {
    this(settings, clock, System.getenv());
  }

  /**
   * One that gives each job to Slurm as its user's.
   *
   * @param userOf whose an attempt is; null for one that there is not
   */
  SlurmCluster(SlurmSettings settings, Clock clock, Function<Token, String> userOf) {
    this(settings, clock, System.getenv());
    this.userOf = userOf;
  }

  /**
   * @param inherited the service's own environment
   */
  SlurmCluster(SlurmSettings settings, Clock clock, Map<String, String> inherited) {
    this.settings = settings;
    this.clock = clock;
    this.inherited = Map.copyOf(inherited);
    this.client = new Client(settings, Client.MOST_BYTES, inherited);
    this.nodes = new SeenNodes(settings.usableStates());
  }

  /** How many rows of the last reading, none of them ours, could not be read. */
  public int strangeRows() {
    return strangeRows;
  }

  /**
   * Reads the nodes first and the jobs after. A job of ours that starts between the two is then
   * shown running and not yet in GresUsed; the cycle takes it out of what is in use and finds
   * nothing there. The other way round it would be in GresUsed and shown pending: its GPUs would
   * count as somebody else's and, once more, as those the job was given.
   */
  @Override
  public Reading read() throws ReadingFailed {
    Instant at = clock.instant();
    String shown = answer(List.of("scontrol", "-a", "-d", "-o", "show", "node"));
    List<Reading.Seen> placements;
    try {
      placements = nodes.read(shown);
    } catch (IllegalArgumentException e) {
      throw new ReadingFailed("scontrol show node: " + e.getMessage(), e);
    }
    SeenJobs seen = queue(List.of());
    strangeRows = seen.strange().size();
    if (strangeRows > 0) {
      log.debug("{} rows of squeue could not be read: {}", strangeRows, seen.strange());
    }
    return new Reading(
        at, SeenNodes.withFinishing(placements, seen.finishing()), withExitCodes(seen));
  }

  /** The standard output of a command that must succeed. */
  private String answer(List<String> command) throws ReadingFailed {
    Client.Answer answer = client.run(command);
    if (!answer.ok()) {
      throw new ReadingFailed(answer.sentence());
    }
    return answer.out();
  }

  /** Our jobs in the controller, ended ones too for as long as it remembers them. */
  private SeenJobs queue(List<String> filter) throws ReadingFailed {
    List<String> command = squeue(filter);
    Client.Answer answer = client.run(command);
    if (!answer.ok()) {
      throw new ReadingFailed(answer.sentence());
    }
    try {
      return SeenJobs.ofQueue(answer.out(), this::named);
    } catch (IllegalArgumentException e) {
      throw new ReadingFailed("squeue: " + e.getMessage(), e);
    }
  }

  private List<String> squeue(List<String> filter) {
    List<String> command = new ArrayList<>(List.of("squeue"));
    if (!settings.asUser()) {
      command.add("--me");
    }
    command.addAll(List.of("-a", "--states=all"));
    command.addAll(filter);
    command.add("--Format=" + (settings.asUser() ? SeenJobs.COLUMNS_WITH_USER : SeenJobs.COLUMNS));
    return command;
  }

  /** The name of a job of ours, as it was when it was first seen; null for a job of others. */
  private String named(Job job) {
    String number = SeenJobs.number(job);
    Named before = named.get(number);
    if (before != null && before.submittedAt().equals(job.submit())) {
      return before.name();
    }
    if (job.name() == null || Token.read(job.name()).isEmpty() || !isMine(job)) {
      return null;
    }
    if (job.submit() != null) {
      named.put(number, new Named(job.name(), job.submit()));
    }
    return job.name();
  }

  /** Anybody may give a job one of our names; where jobs are their users', whose it is tells. */
  private boolean isMine(Job job) {
    return !settings.asUser()
        || Token.read(job.name()).map(this::userOf).filter(u -> u.equals(job.user())).isPresent();
  }

  /** Whose an attempt is, null for one that there is not. */
  private String userOf(Token token) {
    String user = users.get(token);
    if (user == null) {
      user = userOf.apply(token);
      if (user != null) {
        users.put(token, user);
      }
    }
    return user;
  }

  /**
   * The jobs, those whose exit code squeue left open with what scontrol says. Those beyond the
   * limit of one reading are left out of it: to be missing says nothing.
   */
  private List<SeenJob> withExitCodes(SeenJobs seen) throws ReadingFailed {
    Map<String, SeenJob> known = new HashMap<>();
    List<SeenJob> jobs = new ArrayList<>();
    int left = settings.detailsPerReading();
    for (SeenJob job : seen.jobs()) {
      if (!seen.unsure().contains(job)) {
        jobs.add(job);
        continue;
      }
      String key = job.clusterJob() + " " + job.name() + " " + job.endedAt();
      SeenJob detailed = asked.get(key);
      if (detailed == null && left > 0) {
        left--;
        detailed = detailed(job);
      }
      if (detailed != null) {
        known.put(key, detailed);
        jobs.add(detailed);
      }
    }
    asked.clear();
    asked.putAll(known);
    return jobs;
  }

  private SeenJob detailed(SeenJob job) throws ReadingFailed {
    Client.Answer answer = client.run(List.of("scontrol", "-o", "show", "job", job.clusterJob()));
    if (!answer.ok()) {
      if (saysUnknownJob(answer)) {
        return job;
      }
      throw new ReadingFailed(answer.sentence());
    }
    // From here on stands what the job's owner wrote, line ends and all.
    String own = answer.out().split(" Command=", 2)[0];
    return Jobs.read(own, SeenJobs.ZONE).values().stream()
        .map(SeenJobs::seen)
        .filter(d -> d.name().equals(job.name()) && d.state() == job.state())
        .findFirst()
        .map(d -> SeenJobs.with(job, d.exitCode(), d.reason()))
        .orElse(job);
  }

  private static boolean saysUnknownJob(Client.Answer answer) {
    return answer.ending() == Client.Ending.ENDED
        && answer.err().contains("Invalid job id specified");
  }

  @Override
  public Submission submit(SubmitOrder order) {
    SbatchCommand command;
    try {
      command =
          SbatchCommand.of(
              order,
              settings,
              inherited,
              settings.asUser() ? new LocalUsers(settings).find(order.user()) : null);
    } catch (IllegalArgumentException e) {
      return new Submission.Refused(e.getMessage());
    }
    Path environment = null;
    try {
      environment =
          Files.createTempFile(
              "evenhand-",
              ".env",
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      Files.write(environment, command.environment());
      return submission(client.run(command.words(environment.toString()), command.script()));
    } catch (IOException e) {
      return new Submission.NotSubmitted("its environment could not be written down: " + e);
    } finally {
      delete(environment);
    }
  }

  private static void delete(Path file) {
    try {
      if (file != null) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      log.warn("{} holds a job's environment and could not be deleted", file, e);
    }
  }

  private static Submission submission(Client.Answer answer) {
    if (answer.ending() == Client.Ending.NOT_STARTED) {
      return new Submission.NotSubmitted(answer.sentence());
    }
    SbatchAnswer read = SbatchAnswer.read(answer.exitCode(), answer.out(), answer.err());
    if (read instanceof SbatchAnswer.Submitted submitted) {
      return new Submission.Submitted(submitted.jobId());
    }
    if (answer.ending() != Client.Ending.ENDED) {
      return new Submission.Unknown(answer.sentence());
    }
    if (read instanceof SbatchAnswer.Refused refused) {
      return new Submission.Refused(refused.sentence());
    }
    if (read instanceof SbatchAnswer.NotSubmitted not) {
      return new Submission.NotSubmitted(not.sentence());
    }
    return new Submission.Unknown(((SbatchAnswer.Unknown) read).sentence());
  }

  /**
   * Asks the controller, twice when it does not know the token, then accounting where there is one.
   * A record that a refused submission left behind (FAILED, BadConstraints) is found too, as the
   * ended job it is.
   */
  @Override
  public Optional<SeenJob> find(Token token, Instant since) throws ReadingFailed {
    Predicate<SeenJob> ours =
        j ->
            j.name().equals(token.text())
                // Slurm's times are whole seconds, cut off.
                && (j.submittedAt() == null || !j.submittedAt().plusSeconds(1).isBefore(since));
    Optional<SeenJob> found = inQueue(token, ours);
    if (found.isEmpty()) {
      pause(SECOND_LOOK);
      found = inQueue(token, ours);
    }
    if (found.isEmpty() && hasAccounting()) {
      found = inAccounting(token, since, ours);
    }
    return found;
  }

  @Override
  public Optional<SeenJob> findStarted(Token token, String clusterJob, Instant startedAt)
      throws ReadingFailed {
    Client.Answer who = client.run(whoIs(clusterJob));
    if (saysUnknownJob(who)) {
      return Optional.empty();
    }
    if (!who.ok()) {
      throw new ReadingFailed(who.sentence());
    }
    Optional<Job> job = withNumber(clusterJob, who.out());
    if (job.isEmpty() || job.get().submit() == null || !startedAt.equals(job.get().start())) {
      return Optional.empty();
    }
    log.warn(
        "Slurm job {} is called {} by now; it is still {}",
        clusterJob,
        job.get().name(),
        token.text());
    named.put(clusterJob, new Named(token.text(), job.get().submit()));
    return inQueue(token, List.of("--jobs=" + clusterJob), found -> true);
  }

  private Optional<SeenJob> inQueue(Token token, Predicate<SeenJob> ours) throws ReadingFailed {
    return inQueue(token, List.of("--name=" + token.text()), ours);
  }

  private Optional<SeenJob> inQueue(Token token, List<String> filter, Predicate<SeenJob> ours)
      throws ReadingFailed {
    SeenJobs seen = queue(filter);
    List<SeenJob> jobs = new ArrayList<>();
    for (SeenJob job : seen.jobs()) {
      if (ours.test(job)) {
        jobs.add(seen.unsure().contains(job) ? detailed(job) : job);
      }
    }
    return earliest(token, jobs);
  }

  private static Optional<SeenJob> earliest(Token token, List<SeenJob> jobs) {
    if (jobs.size() > 1) {
      log.error(
          "several Slurm jobs carry the name {}: {}; the one submitted first counts",
          token.text(),
          jobs.stream().map(SeenJob::clusterJob).collect(Collectors.joining(", ")));
    }
    return jobs.stream()
        .min(
            Comparator.comparing(
                    SeenJob::submittedAt, Comparator.nullsLast(Comparator.naturalOrder()))
                .thenComparing(j -> j.clusterJob().length())
                .thenComparing(SeenJob::clusterJob));
  }

  private static void pause(Duration length) throws ReadingFailed {
    try {
      Thread.sleep(length.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ReadingFailed("stopped while looking a job up", e);
    }
  }

  private boolean hasAccounting() throws ReadingFailed {
    return switch (settings.accounting()) {
      case ON -> true;
      case OFF -> false;
      case AUTO ->
          answer(List.of("scontrol", "show", "config"))
              .lines()
              .anyMatch(l -> l.startsWith("AccountingStorageType") && l.contains("slurmdbd"));
    };
  }

  private Optional<SeenJob> inAccounting(Token token, Instant since, Predicate<SeenJob> ours)
      throws ReadingFailed {
    List<String> command =
        new ArrayList<>(
            List.of(
                "sacct",
                "-X",
                "-P",
                "--name=" + token.text(),
                "--starttime=" + DATE.format(since),
                "--format=JobID,JobIDRaw,State,ExitCode,Submit,Start,End,Elapsed,NodeList,JobName"));
    String user = settings.asUser() ? userOf(token) : System.getProperty("user.name");
    if (user != null && !user.equals("?")) {
      // Root would be told everybody's jobs, and anybody may give a job our name.
      command.add("--user=" + user);
    }
    String answer = answer(command);
    SeenJobs seen;
    try {
      seen = SeenJobs.of(answer, Accounting.read(answer, SeenJobs.ZONE));
    } catch (IllegalArgumentException e) {
      throw new ReadingFailed("sacct: " + e.getMessage(), e);
    }
    Optional<SeenJob> found = earliest(token, seen.jobs().stream().filter(ours).toList());
    if (found.isPresent() && !found.get().state().ended()) {
      throw new ReadingFailed(
          "accounting shows job "
              + found.get().clusterJob()
              + " as "
              + found.get().state()
              + ", but the controller no longer knows it; where that lasts, see sacctmgr show"
              + " runawayjobs");
    }
    return found;
  }

  @Override
  public Release release(String clusterJob, Token token) {
    Ours ours = ours(clusterJob, token);
    if (ours.failure() != null) {
      return new Release.Failed(ours.failure());
    }
    // One that an administrator holds is not ours to release.
    if (ours.state() != SeenJob.State.HELD) {
      return new Release.Done();
    }
    Client.Answer answer = client.run(List.of("scontrol", "release", clusterJob));
    boolean done =
        answer.ok() || answer.err().contains("Job has already finished") || saysUnknownJob(answer);
    return done ? new Release.Done() : new Release.Failed(answer.sentence());
  }

  @Override
  public Cancellation signal(String clusterJob, Token token) {
    Ours ours = ours(clusterJob, token);
    return ours.failure() != null
        ? new Cancellation.Failed(ours.failure())
        : ours.state() != SeenJob.State.RUNNING
            ? new Cancellation.Done()
            : scancel(
                List.of(
                    // To the batch shell and all it has started; without it only to job steps.
                    "scancel", "--full", "--signal=" + settings.preemptSignal(), clusterJob));
  }

  @Override
  public Cancellation cancel(String clusterJob, Token token) {
    Ours ours = ours(clusterJob, token);
    return ours.failure() != null
        ? new Cancellation.Failed(ours.failure())
        : ours.state() == null || ours.state().ended()
            ? new Cancellation.Done()
            : scancel(List.of("scancel", clusterJob));
  }

  @Override
  public Cancellation withdraw(String clusterJob, Token token) {
    Ours ours = ours(clusterJob, token);
    return ours.failure() != null
        ? new Cancellation.Failed(ours.failure())
        : ours.state() == null || ours.state().ended() || ours.state() == SeenJob.State.RUNNING
            ? new Cancellation.Done()
            : scancel(List.of("scancel", "--state=PENDING", clusterJob));
  }

  private Cancellation scancel(List<String> command) {
    Client.Answer answer = client.run(command);
    boolean over =
        answer.ok()
            || answer.err().contains("already completing or completed")
            || saysUnknownJob(answer);
    return over ? new Cancellation.Done() : new Cancellation.Failed(answer.sentence());
  }

  /**
   * Whether a number is still our job's.
   *
   * @param state null when it is gone, or is another job by now
   * @param failure why that is not known, or null
   */
  private record Ours(SeenJob.State state, String failure) {}

  private Ours ours(String clusterJob, Token token) {
    if (!NUMBER.matcher(clusterJob).matches()) {
      return new Ours(null, "'" + clusterJob + "' is no number of a Slurm job");
    }
    Client.Answer who = client.run(whoIs(clusterJob));
    if (saysUnknownJob(who)) {
      return new Ours(null, null);
    }
    if (!who.ok()) {
      return new Ours(null, who.sentence());
    }
    Optional<Job> job = withNumber(clusterJob, who.out());
    boolean gone = job.isEmpty() && who.out().strip().lines().count() == 1;
    if (gone) {
      return new Ours(null, null);
    }
    if (job.isEmpty()) {
      return new Ours(null, "squeue's answer about job " + clusterJob + " is not understood");
    }
    if (!token.text().equals(named(job.get()))) {
      // Slurm's numbers start over: this one is another job by now, so ours has ended.
      log.warn(
          "Slurm job {} is not {} but {} of {}; it is left alone",
          clusterJob,
          token.text(),
          job.get().name(),
          job.get().user() == null ? "this user" : job.get().user());
      return new Ours(null, null);
    }
    return new Ours(SeenJobs.seen(job.get()).state(), null);
  }

  private static Optional<Job> withNumber(String clusterJob, String answer) {
    return Jobs.read(answer, SeenJobs.ZONE).values().stream()
        .filter(j -> clusterJob.equals(j.job()) || clusterJob.equals(j.jobRaw()))
        .findFirst();
  }

  private List<String> whoIs(String clusterJob) {
    return squeue(List.of("--jobs=" + clusterJob));
  }
}
