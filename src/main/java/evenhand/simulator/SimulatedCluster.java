package evenhand.simulator;

import evenhand.cycle.Cancellation;
import evenhand.cycle.Cluster;
import evenhand.cycle.Reading;
import evenhand.cycle.Release;
import evenhand.cycle.SeenJob;
import evenhand.cycle.Submission;
import evenhand.cycle.SubmitOrder;
import evenhand.cycle.Token;
import evenhand.facts.NodeState;
import evenhand.facts.Share;
import evenhand.facts.Tier;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * A cluster in memory: nodes with GPUs, and jobs that run for a while on the clock it is given. It
 * behaves as Slurm does towards the cycle, its silences included: answers can be lost, readings can
 * fail, jobs can die of anything a job dies of.
 *
 * <p>Nothing moves between calls: each call first lets happen what the clock says has happened.
 */
public final class SimulatedCluster implements Cluster {
  /** How long an ended job is shown after a reading has shown its end. */
  private static final Duration MEMORY = Duration.ofMinutes(10);

  private final Clock clock;
  private final Map<String, Node> nodes = new TreeMap<>();
  private final Map<String, Simulated> jobs = new LinkedHashMap<>();
  private final List<SubmitOrder> submitted = new ArrayList<>();
  private final Deque<Fate> fates = new ArrayDeque<>();
  private Function<SubmitOrder, Duration> runTime = order -> null;
  private Duration startDelay = Duration.ZERO;
  private String unreadable;
  private long lastNumber = 1000;

  private static final class Node {
    final Map<String, Integer> capacity = new TreeMap<>();
    final Map<String, Integer> heldByOthers = new TreeMap<>();
    final Map<String, String> partitions = new TreeMap<>();
    NodeState state = NodeState.UP;
  }

  private static final class Simulated {
    String number;
    SubmitOrder order;
    SeenJob.State state = SeenJob.State.HELD;
    Instant submittedAt;
    Instant startableAt;
    Instant startedAt;
    Instant endedAt;
    Duration runs;
    Integer exitCode;
    String reason;
    int restarts;
    boolean endShown;
  }

  /**
   * What becomes of one submission: the answer given, and whether the job is there all the same.
   */
  private record Fate(Submission answer, boolean arrives) {}

  public SimulatedCluster(Clock clock) {
    this.clock = clock;
  }

  /** The model this tier's GPUs are shown as: its gres without {@code gpu:}, or its name. */
  public static String modelOf(Tier tier) {
    return tier.gres() != null && tier.gres().startsWith("gpu:")
        ? tier.gres().substring("gpu:".length())
        : tier.name();
  }

  /** Adds GPUs of one tier to a node, which is made when it is not there yet; 0 takes them away. */
  public synchronized void node(String name, Tier tier, int gpus) {
    Node node = nodes.computeIfAbsent(name, n -> new Node());
    if (gpus == 0) {
      node.capacity.remove(modelOf(tier));
    } else {
      node.capacity.put(modelOf(tier), gpus);
      node.partitions.put(modelOf(tier), tier.partition() == null ? "" : tier.partition());
    }
  }

  /** It has no memory beyond its process. */
  @Override
  public String forgotten() {
    return "the simulated cluster no longer knows this job: it keeps jobs in memory, and is empty"
        + " when the service is started again";
  }

  /** Takes a node out of the inventory. */
  public synchronized void remove(String name) {
    nodes.remove(name);
  }

  /** Sets a node up, draining or down; what runs on one that goes down dies of it. */
  public synchronized void state(String name, NodeState state) {
    settle();
    known(name).state = state;
    if (state == NodeState.DOWN) {
      for (Simulated job : jobs.values()) {
        if (job.state == SeenJob.State.RUNNING
            && job.order.on().stream().anyMatch(s -> s.node().equals(name))) {
          end(job, SeenJob.State.NODE_FAIL, null, "NodeDown");
        }
      }
    }
  }

  /** How many GPUs of this tier on this node jobs that nobody follows hold from now on. */
  public synchronized void hold(String name, Tier tier, int gpus) {
    settle();
    known(name).heldByOthers.put(modelOf(tier), gpus);
  }

  /** How long a submitted job runs; null: until it is told to end. */
  public synchronized void runTimes(Function<SubmitOrder, Duration> perOrder) {
    runTime = perOrder;
  }

  /** How long a job is pending before it runs, when its GPUs are free. */
  public synchronized void startDelay(Duration delay) {
    startDelay = delay;
  }

  /** Readings and look-ups fail with these words from now on; null: they work again. */
  public synchronized void unreadable(String because) {
    unreadable = because;
  }

  /** The next submission without a fate of its own is answered like this. */
  public synchronized void answerNext(Submission answer, boolean jobArrives) {
    fates.add(new Fate(answer, jobArrives));
  }

  /** Ends a running or pending job in this state now. */
  public synchronized void end(Token token, SeenJob.State how, Integer exitCode, String reason) {
    settle();
    end(live(token), how, exitCode, reason);
  }

  /** Queues a running job again, as an administrator may. */
  public synchronized void requeue(Token token, Duration pendingFor) {
    settle();
    Simulated job = live(token);
    job.state = SeenJob.State.PENDING;
    job.startedAt = null;
    job.restarts++;
    job.startableAt = clock.instant().plus(pendingFor);
  }

  /** Loses every trace of a job. */
  public synchronized void forget(Token token) {
    jobs.values().removeIf(j -> j.order.token().equals(token));
  }

  /** Every order to submit that reached it, whatever the answer, in order. */
  public synchronized List<SubmitOrder> submitted() {
    return List.copyOf(submitted);
  }

  /** Every job it knows of at this moment, shown in a reading or not. */
  public synchronized List<SeenJob> everything() {
    settle();
    return jobs.values().stream().map(this::seen).toList();
  }

  /** The next moment at which something happens here by itself; empty when nothing will. */
  public synchronized Optional<Instant> nextChange() {
    settle();
    Instant next = null;
    for (Simulated job : jobs.values()) {
      Instant then = null;
      if (job.state == SeenJob.State.RUNNING && endOf(job) != null) {
        then = endOf(job);
      } else if (job.state == SeenJob.State.PENDING && job.startableAt.isAfter(clock.instant())) {
        then = job.startableAt;
      }
      if (then != null && (next == null || then.isBefore(next))) {
        next = then;
      }
    }
    return Optional.ofNullable(next);
  }

  @Override
  public synchronized Reading read() throws ReadingFailed {
    settle();
    if (unreadable != null) {
      throw new ReadingFailed(unreadable);
    }
    List<Reading.Seen> placements = new ArrayList<>();
    for (Map.Entry<String, Node> entry : nodes.entrySet()) {
      Node node = entry.getValue();
      for (Map.Entry<String, Integer> gpus : node.capacity.entrySet()) {
        placements.add(
            new Reading.Seen(
                entry.getKey(),
                gpus.getKey(),
                gpus.getValue(),
                Math.min(gpus.getValue(), used(entry.getKey(), gpus.getKey())),
                node.state,
                switch (node.state) {
                  case UP -> "MIXED";
                  case DRAINING -> "MIXED+DRAIN";
                  case DOWN -> "DOWN";
                },
                node.state == NodeState.UP ? null : "set " + node.state.word(),
                List.of(node.partitions.get(gpus.getKey()))));
      }
    }
    Instant now = clock.instant();
    jobs.values().removeIf(j -> j.endShown && j.endedAt.plus(MEMORY).isBefore(now));
    List<SeenJob> seen = new ArrayList<>(jobs.size());
    for (Simulated job : jobs.values()) {
      job.endShown = job.state.ended();
      seen.add(seen(job));
    }
    return new Reading(now, placements, seen);
  }

  @Override
  public synchronized Submission submit(SubmitOrder order) {
    settle();
    submitted.add(order);
    Fate fate = fates.poll();
    if (fate != null && !fate.arrives()) {
      return fate.answer();
    }
    Simulated job = new Simulated();
    job.number = Long.toString(++lastNumber);
    job.order = order;
    job.submittedAt = clock.instant();
    job.runs = runTime.apply(order);
    jobs.put(job.number, job);
    return fate == null ? new Submission.Submitted(job.number) : fate.answer();
  }

  @Override
  public synchronized Optional<SeenJob> find(Token token, Instant since) throws ReadingFailed {
    settle();
    if (unreadable != null) {
      throw new ReadingFailed(unreadable);
    }
    return jobs.values().stream()
        .filter(j -> j.order.token().equals(token) && !j.submittedAt.isBefore(since))
        .findFirst()
        .map(this::seen);
  }

  @Override
  public synchronized Release release(String clusterJob, Token token) {
    settle();
    Simulated job = jobs.get(clusterJob);
    if (job != null && job.order.token().equals(token) && job.state == SeenJob.State.HELD) {
      job.state = SeenJob.State.PENDING;
      job.startableAt = clock.instant().plus(startDelay);
      settle();
    }
    return new Release.Done();
  }

  @Override
  public synchronized Cancellation withdraw(String clusterJob, Token token) {
    settle();
    Simulated job = jobs.get(clusterJob);
    return job == null || job.state == SeenJob.State.RUNNING
        ? new Cancellation.Done()
        : cancel(clusterJob, token);
  }

  @Override
  public synchronized Cancellation cancel(String clusterJob, Token token) {
    settle();
    Simulated job = jobs.get(clusterJob);
    if (job != null && job.order.token().equals(token) && !job.state.ended()) {
      end(job, SeenJob.State.CANCELLED, null, null);
    }
    return new Cancellation.Done();
  }

  private Node known(String name) {
    Node node = nodes.get(name);
    if (node == null) {
      throw new IllegalArgumentException("there is no node " + name);
    }
    return node;
  }

  private Simulated live(Token token) {
    return jobs.values().stream()
        .filter(j -> j.order.token().equals(token) && !j.state.ended())
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException(token.text() + " is not on the cluster"));
  }

  private int used(String name, String model) {
    int used = nodes.get(name).heldByOthers.getOrDefault(model, 0);
    for (Simulated job : jobs.values()) {
      if (job.state == SeenJob.State.RUNNING) {
        for (Share share : job.order.on()) {
          if (share.node().equals(name) && modelOf(share.tier()).equals(model)) {
            used += share.gpus();
          }
        }
      }
    }
    return used;
  }

  private static Instant endOf(Simulated job) {
    Instant limit =
        job.order.timeLimitSeconds() == null
            ? null
            : job.startedAt.plusSeconds(job.order.timeLimitSeconds());
    Instant done = job.runs == null ? null : job.startedAt.plus(job.runs);
    return done == null || limit != null && limit.isBefore(done) ? limit : done;
  }

  /** Lets happen what the clock says has happened. */
  private void settle() {
    Instant now = clock.instant();
    for (Simulated job : jobs.values()) {
      if (job.state == SeenJob.State.RUNNING && endOf(job) != null && !endOf(job).isAfter(now)) {
        Instant at = endOf(job);
        boolean done = job.runs != null && !job.startedAt.plus(job.runs).isAfter(at);
        end(
            job,
            done ? SeenJob.State.COMPLETED : SeenJob.State.TIMEOUT,
            done ? 0 : null,
            done ? null : "TimeLimit");
        job.endedAt = at;
      }
    }
    for (Simulated job : jobs.values()) {
      if (job.state == SeenJob.State.PENDING && !job.startableAt.isAfter(now) && roomFor(job)) {
        job.state = SeenJob.State.RUNNING;
        job.startedAt = job.startableAt;
        job.reason = null;
      } else if (job.state == SeenJob.State.PENDING) {
        job.reason = "Resources";
        if (job.startableAt.isBefore(now)) {
          job.startableAt = now;
        }
      }
    }
  }

  private boolean roomFor(Simulated job) {
    for (Share share : job.order.on()) {
      Node node = nodes.get(share.node());
      String model = modelOf(share.tier());
      if (node == null
          || node.state != NodeState.UP
          || node.capacity.getOrDefault(model, 0) - used(share.node(), model) < share.gpus()) {
        return false;
      }
    }
    return true;
  }

  private void end(Simulated job, SeenJob.State how, Integer exitCode, String reason) {
    job.state = how;
    job.endedAt = clock.instant();
    job.exitCode = exitCode;
    job.reason = reason;
  }

  private SeenJob seen(Simulated job) {
    return new SeenJob(
        job.number,
        job.order.token().text(),
        job.state,
        job.submittedAt,
        job.startedAt,
        job.endedAt,
        job.exitCode,
        job.reason,
        job.state == SeenJob.State.RUNNING
            ? job.order.on().stream()
                .map(s -> new SeenJob.On(s.node(), modelOf(s.tier()), s.gpus()))
                .toList()
            : List.of(),
        job.restarts);
  }
}
