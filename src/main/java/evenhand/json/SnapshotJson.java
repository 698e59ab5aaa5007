package evenhand.json;

import evenhand.facts.Account;
import evenhand.facts.Claim;
import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.PlacementGroup;
import evenhand.facts.Reservation;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.input.Document;
import evenhand.input.Field;
import evenhand.input.InputFault;
import evenhand.input.Section;
import evenhand.input.Shape;
import evenhand.input.Spelling;
import evenhand.input.Value;
import java.io.OutputStream;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import tools.jackson.core.JsonGenerator;

/** The snapshot as JSON: read with defaults and all checks, written canonically. */
public final class SnapshotJson {
  private static final int MOST_GPUS = 1_000_000;
  private static final double ANY = Double.MAX_VALUE;

  // A field that tells which tier, node, account or job is meant has no default; neither has the
  // moment, nor how many GPUs exist. All the rest may be left out.

  private static final Field<String> NAME =
      Field.text("name").means("the GPU model, as jobs ask for it");
  private static final Field<Integer> SORT_ORDER =
      Field.whole("sort_order", -1_000_000, 1_000_000)
          .or(0)
          .means("rank among tiers; higher is better");
  private static final Field<Double> TFLOPS =
      Field.number("tflops", 0, 1e9)
          .or(1.0)
          .means("price of one GPU for one second, TFLOP-seconds; 1 charges plain GPU-seconds");
  private static final Field<Integer> MAX_GPUS =
      Field.whole("max_gpus", 0, MOST_GPUS)
          .or(8)
          .means("most GPUs of the tier that one job may ask for on one node (N1)");
  private static final Field<Boolean> AUTO_ASSIGN =
      Field.flag("auto_assign")
          .or(true)
          .means("whether jobs are sent to the tier without naming it (F1)");
  private static final Field<String> PARTITION =
      Field.text("partition")
          .or(null, "null")
          .means("Slurm partition the tier is reached by; null for Slurm's default");
  private static final Field<String> GRES =
      Field.text("gres").or(null, "gpu:NAME").means("Slurm gres of the tier, without a count");
  private static final Shape TIER =
      Shape.of("a tier", NAME, SORT_ORDER, TFLOPS, MAX_GPUS, AUTO_ASSIGN, PARTITION, GRES);

  private static final Field<String> NODE = Field.text("node").means("name of the node");
  private static final Field<String> OF_TIER = Field.text("tier").means("one of tiers[].name");
  private static final Field<Integer> CAPACITY =
      Field.whole("capacity", 0, MOST_GPUS)
          .means("GPUs of the tier that exist and work on the node");
  private static final Field<Integer> IDLE =
      Field.whole("idle", 0, MOST_GPUS)
          .or(null, "capacity")
          .means(
              "GPUs that no research job holds, before reservations are taken off; LLM backfill"
                  + " does not hold (B1)");
  private static final Field<String> STATE =
      Field.word("state", Stream.of(NodeState.values()).map(NodeState::word).toList())
          .or(NodeState.UP.word())
          .means("whether the node may be given work");
  private static final Field<Boolean> WORK_STAYS =
      Field.flag("work_stays")
          .or(false)
          .means("of a draining node: it is closed to new work only, what runs goes on (X2)");
  private static final Shape PLACEMENT =
      Shape.of("a placement", NODE, OF_TIER, CAPACITY, IDLE, STATE, WORK_STAYS);

  private static final Field<String> ID = Field.text("id").means("id of it, given once only");
  private static final Field<String> PARENT =
      Field.text("parent").or(null, "null").means("id of the account above; null at the root");
  private static final Field<Double> WEIGHT =
      Field.number("weight", 0, ANY).or(1.0).means("budget among its siblings (A1); 0 for none");
  private static final Field<Double> CUMULATIVE_USAGE =
      Field.number("cumulative_usage", 0, ANY)
          .or(0.0)
          .means("all it has ever been charged, TFLOP-seconds (Q2)");
  private static final Field<Double> WINDOW_USAGE =
      Field.number("window_usage", 0, ANY)
          .or(0.0)
          .means("what it was charged within the lookback, in the policy's charge_unit (A3)");
  private static final Shape ACCOUNT =
      Shape.of("an account", ID, PARENT, WEIGHT, CUMULATIVE_USAGE, WINDOW_USAGE);

  private static final Field<String> OF_ACCOUNT =
      Field.text("account").means("one of accounts[].id");
  private static final Field<String> USER =
      Field.text("user").or("anonymous").means("who submitted it");
  private static final Field<Integer> NODES =
      Field.whole("nodes", 1, MOST_GPUS).or(1).means("how many nodes it asks for");
  private static final Field<Integer> NUM_GPUS =
      Field.whole("num_gpus", 1, MOST_GPUS).or(1).means("GPUs it asks for on each node");
  private static final Field<String> WANTED_TIER =
      Field.text("tier").or(null, "null").means("one of tiers[].name; null for any");
  private static final Field<Integer> MINIMUM_TIER_SORT_ORDER =
      Field.whole("minimum_tier_sort_order", -1_000_000, Integer.MAX_VALUE)
          .or(0)
          .means("lowest sort_order it accepts (F1)");
  private static final Field<Integer> PRIORITY =
      Field.whole("priority", -1_000_000, 1_000_000)
          .or(0)
          .means("higher is first, within one account only (Q3)");
  private static final Field<Instant> QUEUED_AT =
      Field.time("queued_at").or(null, "now").means("when it entered the queue");
  private static final Field<Long> MIN_RUNTIME =
      Field.wholeLong("min_runtime_s", 0, 3_155_760_000L)
          .or(0L)
          .means("protected run time it declares, seconds (K1); 0 for an unallocated job (N5)");
  private static final Field<Boolean> RESUMABLE =
      Field.flag("resumable")
          .or(false)
          .means("whether it may be queued again after a preemption (K6)");
  private static final Field<Boolean> PREEMPTIBLE =
      Field.flag("preemptible")
          .or(true)
          .means("whether it consents to make room for a higher priority (PR3)");
  private static final Field<Integer> ATTEMPT =
      Field.whole("attempt", 1, MOST_GPUS).or(1).means("1 for the first run");
  private static final Shape JOB =
      Shape.of(
          "a job",
          ID,
          OF_ACCOUNT,
          USER,
          NODES,
          NUM_GPUS,
          WANTED_TIER,
          MINIMUM_TIER_SORT_ORDER,
          PRIORITY,
          QUEUED_AT,
          MIN_RUNTIME,
          RESUMABLE,
          ATTEMPT,
          PREEMPTIBLE);

  private static final Field<String> QUEUED_JOB = Field.text("job").means("one of jobs[].id");
  private static final Field<Integer> GPUS =
      Field.whole("gpus", 1, MOST_GPUS).means("GPUs it holds there");
  private static final Field<Instant> SINCE =
      Field.time("since").or(null, "now").means("when it was started");
  private static final Field<Double> ACCRUED =
      Field.number("accrued_tflop_s", 0, ANY)
          .or(0.0)
          .means("what it has cost up to accrued_at, TFLOP-seconds (C1)");
  private static final Field<Instant> ACCRUED_AT =
      Field.time("accrued_at").or(null, "since").means("up to when its cost is counted");
  private static final Shape RESERVATION =
      Shape.of("a reservation", QUEUED_JOB, NODE, OF_TIER, GPUS, SINCE, ACCRUED, ACCRUED_AT);

  private static final Field<String> RUNNING_JOB = Field.text("job").means("id of the job");
  private static final Field<List<Section>> ON =
      Field.list("on", Shape.of("a share", NODE, OF_TIER, GPUS)).means("the GPUs it holds");
  private static final Field<Instant> STARTED_AT =
      Field.time("started_at").or(null, "now").means("when it was started");
  private static final Field<Instant> PROTECTED_UNTIL =
      Field.time("protected_until")
          .or(null, "started_at")
          .means("until when nothing may preempt it (K2)");
  private static final Field<Boolean> ALLOCATED =
      Field.flag("allocated")
          .or(true)
          .means("whether its time is charged to its account's budget (N5)");
  private static final Field<Long> RUNNING_MINIMUM =
      Field.wholeLong("min_runtime_s", 0, 3_155_760_000L)
          .or(null, "protected_until - started_at")
          .means("the run time that gives meaningful progress, as it declared (K1)");
  private static final Field<Instant> CHECKPOINT_AT =
      Field.time("checkpoint_at")
          .or(null, "none")
          .means("its last checkpoint; what it did before is not lost (K4)");
  private static final Field<Boolean> LEAVING =
      Field.flag("leaving").or(false).means("whether it was told to make room already (K6)");
  private static final Shape RUNNING =
      Shape.of(
          "a running job",
          RUNNING_JOB,
          OF_ACCOUNT,
          ON,
          STARTED_AT,
          PROTECTED_UNTIL,
          ALLOCATED,
          RESUMABLE,
          RUNNING_MINIMUM,
          CHECKPOINT_AT,
          LEAVING,
          PRIORITY,
          PREEMPTIBLE);

  private static final Field<Instant> READY_AT =
      Field.time("ready_at").means("not later than then it has all of them (G2)");
  private static final Field<List<String>> YIELDS =
      Field.texts("yields", 1_000_000, "an id of a job", id -> !id.isBlank())
          .or(List.of(), "none")
          .means("running jobs that it counts on (G3)");
  private static final Shape CLAIM = Shape.of("a claim", QUEUED_JOB, ON, SINCE, READY_AT, YIELDS);

  private static final Field<String> POLICY =
      Field.text("policy").or("reservation").means("name of the policy that shall decide");
  private static final Field<Instant> NOW =
      Field.time("now").means("the cycle's one instant; every duration is measured to it");
  private static final Field<String> CLUSTER =
      Field.text("cluster").or("main").means("name of the cluster");
  private static final Field<List<Section>> TIERS = sections("tiers", TIER, "the GPU models");
  private static final Field<List<Section>> PLACEMENTS =
      sections("placements", PLACEMENT, "all GPUs of one tier on one node, each pair once");
  private static final Field<List<Section>> ACCOUNTS =
      sections("accounts", ACCOUNT, "the account tree");
  private static final Field<List<Section>> JOBS =
      sections("jobs", JOB, "the queue, in any order (Q4)");
  private static final Field<List<Section>> RESERVATIONS =
      sections("reservations", RESERVATION, "GPUs held for queued jobs, at most one each (R1)");
  private static final Field<List<Section>> RUNNING_JOBS =
      sections("running", RUNNING, "jobs that hold GPUs");
  private static final Field<List<Section>> CLAIMS =
      sections("claims", CLAIM, "GPUs that the first job gathers; one claim at most (G1)");

  /** All fields with their defaults and meanings. */
  public static final Shape SHAPE =
      Shape.of(
          "a snapshot",
          POLICY,
          NOW,
          CLUSTER,
          TIERS,
          PLACEMENTS,
          ACCOUNTS,
          JOBS,
          RESERVATIONS,
          RUNNING_JOBS,
          CLAIMS);

  private SnapshotJson() {}

  private static Field<List<Section>> sections(String name, Shape shape, String meaning) {
    return Field.list(name, shape).or(List.of(), "none").means(meaning);
  }

  /**
   * Reads a snapshot.
   *
   * @param file what people call the input, for messages
   * @throws InputFault when it is not one, or cannot be: idle above capacity, more reserved than is
   *     free or than the job asks for, more held by running jobs than is not idle, a running job
   *     without GPUs, anything given twice, a job that is queued and runs, a reference to nothing,
   *     what began in the future, an account that is its own ancestor
   */
  public static Snapshot read(String file, String text) {
    return read(Document.json(file, text), false);
  }

  /** The same for one of many that stand in a file, one a line. */
  public static Snapshot read(String file, int line, String text) {
    return read(Document.json(file, line, text), false);
  }

  /**
   * Reads a snapshot that a cycle recorded. What is recorded was so: more may be reserved or held
   * on a placement than there is, since a job from outside took GPUs (R5), a job may wait for a
   * tier that is not configured any more, and what began may lie in the future of a clock that was
   * set back. Everything else must hold as in {@link #read}.
   */
  public static Snapshot readRecorded(String file, String text) {
    return read(Document.json(file, text), true);
  }

  /**
   * Reads one that stands within another document, as leniently as {@link #readRecorded}: a
   * situation that was recorded, and perhaps edited since. Its faults are noted in the document.
   *
   * @return null when it has no form to be read at all
   */
  public static Snapshot readWithin(Value at) {
    Section top = at.section(SHAPE);
    return top == null || top.get(NOW) == null ? null : new Reading(top, true).snapshot();
  }

  private static Snapshot read(Document document, boolean recorded) {
    Section top = document.read(SHAPE);
    Snapshot snapshot = new Reading(top, recorded).snapshot();
    document.check();
    return snapshot;
  }

  /** One reading of the parts that refer to each other. */
  private static final class Reading {
    private final Section top;

    /** Whether it is what a cycle recorded, and so may be what nobody would write. */
    private final boolean recorded;

    private final Instant now;
    private final Map<String, Tier> tiers = new LinkedHashMap<>();
    private final Map<Key, Section> placements = new LinkedHashMap<>();
    private final Map<String, Section> accounts = new LinkedHashMap<>();
    private final Map<String, Section> jobs = new LinkedHashMap<>();
    private final Map<String, Section> running = new LinkedHashMap<>();

    private record Key(String node, String tier) {
      @Override
      public String toString() {
        return node + " (" + tier + ")";
      }
    }

    Reading(Section top, boolean recorded) {
      this.top = top;
      this.recorded = recorded;
      this.now = top.get(NOW);
    }

    Snapshot snapshot() {
      for (Section s : top.get(TIERS)) {
        if (tiers.putIfAbsent(s.get(NAME), tier(s)) != null) {
          s.fault(NAME, "tier " + s.get(NAME) + " is given twice; give each tier once");
        }
      }
      List<Placement> placed = readPlacements();
      List<Account> tree = readAccounts();
      List<Job> queue = readJobs();
      List<Running> atWork = readRunning();
      List<Reservation> held = readReservations();
      List<Claim> claims = readClaims();
      Set<String> stays = new HashSet<>();
      for (Section s : top.get(PLACEMENTS)) {
        if (s.get(WORK_STAYS)) {
          stays.add(s.get(NODE));
        }
      }
      return new Snapshot(
          top.get(POLICY),
          now,
          top.get(CLUSTER),
          List.copyOf(tiers.values()),
          placed,
          tree,
          queue,
          held,
          atWork,
          claims,
          stays);
    }

    private List<Claim> readClaims() {
      List<Claim> read = new ArrayList<>();
      for (Section s : top.get(CLAIMS)) {
        String id = s.get(QUEUED_JOB);
        if (!recorded && !jobs.containsKey(id)) {
          s.fault(
              QUEUED_JOB,
              "there is no job " + id + " in the queue; " + Spelling.hint(id, jobs.keySet()));
        }
        if (!read.isEmpty()) {
          s.fault(QUEUED_JOB, "there is another claim already; one at a time (G1)");
        }
        List<Share> on = new ArrayList<>();
        for (Section share : s.get(ON)) {
          on.add(new Share(share.get(NODE), tier(share, OF_TIER), share.get(GPUS)));
        }
        read.add(new Claim(id, on, timeOr(s, SINCE, now), s.get(READY_AT), s.get(YIELDS)));
      }
      return read;
    }

    private static Tier tier(Section s) {
      String gres = s.has(GRES) ? s.get(GRES) : "gpu:" + s.get(NAME);
      return new Tier(
          s.get(NAME),
          s.get(SORT_ORDER),
          s.get(TFLOPS),
          s.get(MAX_GPUS),
          s.get(AUTO_ASSIGN),
          s.get(PARTITION),
          gres);
    }

    /** The tier named; a stand-in, with the fault noted, where there is none of that name. */
    private Tier tier(Section s, Field<String> field) {
      String name = s.get(field);
      Tier tier = name == null ? null : tiers.get(name);
      if (tier == null && name != null) {
        s.fault(field, "there is no tier " + name + "; " + Spelling.hint(name, tiers.keySet()));
      }
      return tier;
    }

    private List<Placement> readPlacements() {
      List<Placement> read = new ArrayList<>();
      // equal groups are one object: fit is concluded for the group
      Map<PlacementGroup, PlacementGroup> groups = new HashMap<>();
      for (Section s : top.get(PLACEMENTS)) {
        Tier tier = tier(s, OF_TIER);
        Key key = new Key(s.get(NODE), s.get(OF_TIER));
        if (placements.putIfAbsent(key, s) != null) {
          s.fault("placement " + key + " is given twice; give each pair of node and tier once");
        }
        int capacity = s.get(CAPACITY);
        if (idle(s) > capacity) {
          s.fault(IDLE, idle(s) + " idle of a capacity of " + capacity + "; at most " + capacity);
        }
        NodeState state = NodeState.valueOf(s.get(STATE).toUpperCase(Locale.ROOT));
        PlacementGroup group = new PlacementGroup(tier, capacity, state);
        PlacementGroup known = groups.putIfAbsent(group, group);
        read.add(new Placement(s.get(NODE), known == null ? group : known, idle(s), 0, null));
      }
      return read;
    }

    private static int idle(Section placement) {
      return placement.has(IDLE) ? placement.get(IDLE) : placement.get(CAPACITY);
    }

    private List<Account> readAccounts() {
      List<Account> read = new ArrayList<>();
      for (Section s : top.get(ACCOUNTS)) {
        if (accounts.putIfAbsent(s.get(ID), s) != null) {
          s.fault(ID, "account " + s.get(ID) + " is given twice; give each account once");
        }
        read.add(
            new Account(
                s.get(ID),
                s.get(PARENT),
                s.get(WEIGHT),
                s.get(CUMULATIVE_USAGE),
                s.get(WINDOW_USAGE)));
      }
      Set<String> rooted = new HashSet<>();
      for (Section s : top.get(ACCOUNTS)) {
        String parent = s.get(PARENT);
        if (parent != null && !accounts.containsKey(parent)) {
          s.fault(
              PARENT,
              "there is no account " + parent + "; " + Spelling.hint(parent, accounts.keySet()));
        } else if (isOwnAncestor(s.get(ID), rooted)) {
          s.fault(
              PARENT, "account " + s.get(ID) + " is its own ancestor; the root has parent null");
        }
      }
      return read;
    }

    /** Walks up once; accounts known to have a root above them are remembered. */
    private boolean isOwnAncestor(String id, Set<String> rooted) {
      Set<String> walked = new HashSet<>();
      String at = id;
      while (at != null && accounts.containsKey(at) && !rooted.contains(at)) {
        if (!walked.add(at)) {
          return at.equals(id); // a loop further up is told at its own members
        }
        at = accounts.get(at).get(PARENT);
      }
      rooted.addAll(walked);
      return false;
    }

    private void checkAccount(Section s) {
      String id = s.get(OF_ACCOUNT);
      if (!accounts.containsKey(id)) {
        s.fault(
            OF_ACCOUNT, "there is no account " + id + "; " + Spelling.hint(id, accounts.keySet()));
      }
    }

    private List<Job> readJobs() {
      List<Job> read = new ArrayList<>();
      for (Section s : top.get(JOBS)) {
        if (jobs.putIfAbsent(s.get(ID), s) != null) {
          s.fault(ID, "job " + s.get(ID) + " is given twice; give each job once");
        }
        checkAccount(s);
        if (!recorded) {
          tier(s, WANTED_TIER);
        }
        read.add(
            new Job(
                s.get(ID),
                s.get(OF_ACCOUNT),
                s.get(USER),
                s.get(NODES),
                s.get(NUM_GPUS),
                s.get(WANTED_TIER),
                s.get(MINIMUM_TIER_SORT_ORDER),
                s.get(PRIORITY),
                timeOr(s, QUEUED_AT, now),
                s.get(MIN_RUNTIME),
                s.get(RESUMABLE),
                s.get(ATTEMPT),
                s.get(PREEMPTIBLE)));
      }
      return read;
    }

    private static Instant timeOr(Section s, Field<Instant> field, Instant otherwise) {
      return s.has(field) ? s.get(field) : otherwise;
    }

    /** What began before now did so; a clock that was set back is told by recordings alone. */
    private void checkIsPast(Section s, Field<Instant> field, Instant at) {
      if (!recorded && at.isAfter(now)) {
        s.fault(field, at + " is in the future; now is " + now);
      }
    }

    /**
     * Running jobs hold no more of a placement than it has, and those with a budget none of what is
     * idle. Work without one may be counted as idle by some (7.4), and what leaves may be gone; a
     * node that is not up, or has left the inventory, may have lost GPUs.
     */
    private void checkIsHeld(Section s, Section share, Map<Key, Long> all, Map<Key, Long> budgets) {
      Key key = new Key(share.get(NODE), share.get(OF_TIER));
      Section placement = placements.get(key);
      if (recorded
          || placement == null
          || s.get(LEAVING)
          || !placement.get(STATE).equals(NodeState.UP.word())) {
        return;
      }
      long gpus = share.get(GPUS);
      long together = all.merge(key, gpus, Long::sum);
      long most = placement.get(CAPACITY);
      if (together <= most && s.get(ALLOCATED)) {
        together = budgets.merge(key, gpus, Long::sum);
        most -= placement.has(IDLE) ? Math.min(most, idle(placement)) : 0;
      }
      if (together > most) {
        share.fault(
            GPUS,
            "running jobs hold "
                + together
                + " on "
                + key
                + ", which has "
                + placement.get(CAPACITY)
                + (placement.has(IDLE) ? " and " + idle(placement) + " of them idle" : "")
                + "; at most "
                + most);
      }
    }

    private List<Running> readRunning() {
      List<Running> read = new ArrayList<>();
      Map<Key, Long> all = new HashMap<>();
      Map<Key, Long> budgets = new HashMap<>();
      for (Section s : top.get(RUNNING_JOBS)) {
        String job = s.get(RUNNING_JOB);
        if (running.putIfAbsent(job, s) != null) {
          s.fault(RUNNING_JOB, "job " + job + " is given twice; give each running job once");
        }
        if (jobs.containsKey(job)) {
          s.fault(RUNNING_JOB, "job " + job + " is queued too; a job is either queued or running");
        }
        checkAccount(s);
        List<Share> on = new ArrayList<>();
        Set<Key> keys = new HashSet<>();
        for (Section share : s.get(ON)) {
          Key key = new Key(share.get(NODE), share.get(OF_TIER));
          if (!keys.add(key)) {
            share.fault(key + " is given twice; add its GPUs up");
          }
          on.add(new Share(share.get(NODE), tier(share, OF_TIER), share.get(GPUS)));
          checkIsHeld(s, share, all, budgets);
        }
        if (on.isEmpty() && !recorded) {
          s.fault(ON, "names no GPUs; a running job holds one or more");
        }
        Instant started = timeOr(s, STARTED_AT, now);
        checkIsPast(s, STARTED_AT, started);
        Instant until = timeOr(s, PROTECTED_UNTIL, started);
        if (!recorded && until.isBefore(started)) {
          s.fault(PROTECTED_UNTIL, until + " is before it was started, " + started);
        }
        read.add(
            new Running(
                job,
                s.get(OF_ACCOUNT),
                on,
                started,
                until,
                s.get(ALLOCATED),
                s.get(RESUMABLE),
                s.has(RUNNING_MINIMUM)
                    ? s.get(RUNNING_MINIMUM)
                    : Duration.between(started, until).toSeconds(),
                timeOr(s, CHECKPOINT_AT, null),
                s.get(LEAVING),
                s.get(PRIORITY),
                s.get(PREEMPTIBLE)));
      }
      return read;
    }

    private List<Reservation> readReservations() {
      List<Reservation> read = new ArrayList<>();
      Set<String> holders = new HashSet<>();
      Map<Key, Long> reserved = new HashMap<>();
      for (Section s : top.get(RESERVATIONS)) {
        String id = s.get(QUEUED_JOB);
        Section job = jobs.get(id);
        if (!holders.add(id)) {
          s.fault(QUEUED_JOB, "job " + id + " holds two reservations; one at most (R1)");
        }
        if (job == null) {
          String instead =
              running.containsKey(id)
                  ? "it is running, and only queued jobs hold reservations"
                  : Spelling.hint(id, jobs.keySet());
          s.fault(QUEUED_JOB, "there is no job " + id + " in the queue; " + instead);
        }
        if (!recorded) {
          checkIsFree(s, reserved);
          checkIsAskedFor(s, job);
        }
        Instant since = timeOr(s, SINCE, now);
        Instant accruedAt = timeOr(s, ACCRUED_AT, since);
        checkIsPast(s, SINCE, since);
        checkIsPast(s, ACCRUED_AT, accruedAt);
        if (!recorded && accruedAt.isBefore(since)) {
          s.fault(ACCRUED_AT, accruedAt + " is before it was started, " + since);
        }
        read.add(
            new Reservation(
                id,
                job == null ? null : job.get(OF_ACCOUNT),
                s.get(NODE),
                tier(s, OF_TIER),
                s.get(GPUS),
                since,
                s.get(ACCRUED),
                accruedAt));
      }
      return read;
    }

    private static void checkIsAskedFor(Section s, Section job) {
      long asked = job == null ? Long.MAX_VALUE : (long) job.get(NODES) * job.get(NUM_GPUS);
      if (s.get(GPUS) > asked) {
        s.fault(
            GPUS,
            s.get(GPUS) + " reserved for a job that asks for " + asked + "; at most " + asked);
      }
    }

    /**
     * All reservations of a placement together are no more than it has idle. One whose node is not
     * up, or has left the inventory, may stand: R5 is there for it.
     */
    private void checkIsFree(Section s, Map<Key, Long> reserved) {
      Key key = new Key(s.get(NODE), s.get(OF_TIER));
      long together = reserved.merge(key, (long) s.get(GPUS), Long::sum);
      Section placement = placements.get(key);
      if (placement == null || !placement.get(STATE).equals(NodeState.UP.word())) {
        return;
      }
      if (together > idle(placement)) {
        s.fault(
            GPUS,
            together
                + " reserved on "
                + key
                + ", where "
                + idle(placement)
                + " are free; at most "
                + idle(placement));
      }
    }
  }

  /** The canonical text: no spaces, every field in the order of the format, no default left out. */
  public static String write(Snapshot snapshot) {
    return Text.write(json -> write(json, snapshot));
  }

  /** {@code sha256:…} over {@link #write}; two inputs that mean the same have the same. */
  public static String hash(Snapshot snapshot) {
    try {
      MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
      Text.write(
          new DigestOutputStream(OutputStream.nullOutputStream(), sha256),
          json -> write(json, snapshot));
      return "sha256:" + HexFormat.of().formatHex(sha256.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  private static void write(JsonGenerator json, Snapshot s) {
    json.writeStartObject();
    json.writeStringProperty("policy", s.policy());
    json.writeStringProperty("now", s.now().toString());
    json.writeStringProperty("cluster", s.cluster());
    json.writeArrayPropertyStart("tiers");
    s.tiers().forEach(tier -> write(json, tier));
    json.writeEndArray();
    json.writeArrayPropertyStart("placements");
    s.placements().forEach(p -> write(json, p, s.workStays().contains(p.node())));
    json.writeEndArray();
    json.writeArrayPropertyStart("accounts");
    s.accounts().forEach(account -> write(json, account));
    json.writeEndArray();
    json.writeArrayPropertyStart("jobs");
    s.jobs().forEach(job -> write(json, job));
    json.writeEndArray();
    json.writeArrayPropertyStart("reservations");
    s.reservations().forEach(reservation -> write(json, reservation));
    json.writeEndArray();
    json.writeArrayPropertyStart("running");
    s.running().forEach(running -> write(json, running));
    json.writeEndArray();
    if (!s.claims().isEmpty()) {
      json.writeArrayPropertyStart("claims");
      s.claims().forEach(claim -> write(json, claim));
      json.writeEndArray();
    }
    json.writeEndObject();
  }

  private static void write(JsonGenerator json, Tier tier) {
    json.writeStartObject();
    json.writeStringProperty("name", tier.name());
    json.writeNumberProperty("sort_order", tier.sortOrder());
    Text.number(json, "tflops", tier.tflops());
    json.writeNumberProperty("max_gpus", tier.maxGpus());
    json.writeBooleanProperty("auto_assign", tier.autoAssign());
    Text.text(json, "partition", tier.partition());
    Text.text(json, "gres", tier.gres());
    json.writeEndObject();
  }

  private static void write(JsonGenerator json, Placement placement, boolean stays) {
    json.writeStartObject();
    json.writeStringProperty("node", placement.node());
    json.writeStringProperty("tier", placement.tier().name());
    json.writeNumberProperty("capacity", placement.capacity());
    json.writeNumberProperty("idle", placement.idle());
    json.writeStringProperty("state", placement.state().word());
    if (stays) {
      json.writeBooleanProperty("work_stays", true);
    }
    json.writeEndObject();
  }

  private static void write(JsonGenerator json, Account account) {
    json.writeStartObject();
    json.writeStringProperty("id", account.id());
    Text.text(json, "parent", account.parent());
    Text.number(json, "weight", account.weight());
    Text.number(json, "cumulative_usage", account.cumulativeUsage());
    Text.number(json, "window_usage", account.windowUsage());
    json.writeEndObject();
  }

  private static void write(JsonGenerator json, Job job) {
    json.writeStartObject();
    json.writeStringProperty("id", job.id());
    json.writeStringProperty("account", job.account());
    Text.text(json, "user", job.user());
    json.writeNumberProperty("nodes", job.nodes());
    json.writeNumberProperty("num_gpus", job.numGpus());
    Text.text(json, "tier", job.tier());
    json.writeNumberProperty("minimum_tier_sort_order", job.minimumTierSortOrder());
    json.writeNumberProperty("priority", job.priority());
    json.writeStringProperty("queued_at", job.queuedAt().toString());
    json.writeNumberProperty("min_runtime_s", job.minRuntimeSeconds());
    json.writeBooleanProperty("resumable", job.resumable());
    json.writeNumberProperty("attempt", job.attempt());
    if (!job.preemptible()) {
      json.writeBooleanProperty("preemptible", false);
    }
    json.writeEndObject();
  }

  private static void write(JsonGenerator json, Reservation held) {
    json.writeStartObject();
    json.writeStringProperty("job", held.job());
    json.writeStringProperty("node", held.node());
    json.writeStringProperty("tier", held.tier().name());
    json.writeNumberProperty("gpus", held.gpus());
    json.writeStringProperty("since", held.since().toString());
    Text.number(json, "accrued_tflop_s", held.accruedTflopSeconds());
    json.writeStringProperty("accrued_at", held.accruedAt().toString());
    json.writeEndObject();
  }

  private static void write(JsonGenerator json, Claim claim) {
    json.writeStartObject();
    json.writeStringProperty("job", claim.job());
    Text.shares(json, claim.on());
    json.writeStringProperty("since", claim.since().toString());
    json.writeStringProperty("ready_at", claim.readyAt().toString());
    json.writeArrayPropertyStart("yields");
    claim.yields().forEach(json::writeString);
    json.writeEndArray();
    json.writeEndObject();
  }

  private static void write(JsonGenerator json, Running running) {
    json.writeStartObject();
    json.writeStringProperty("job", running.job());
    json.writeStringProperty("account", running.account());
    Text.shares(json, running.on());
    json.writeStringProperty("started_at", running.startedAt().toString());
    json.writeStringProperty("protected_until", running.protectedUntil().toString());
    json.writeBooleanProperty("allocated", running.allocated());
    json.writeBooleanProperty("resumable", running.resumable());
    json.writeNumberProperty("min_runtime_s", running.minRuntimeSeconds());
    if (running.checkpointAt() != null) {
      json.writeStringProperty("checkpoint_at", running.checkpointAt().toString());
    }
    if (running.leaving()) {
      json.writeBooleanProperty("leaving", true);
    }
    if (running.priority() != 0) {
      json.writeNumberProperty("priority", running.priority());
    }
    if (!running.preemptible()) {
      json.writeBooleanProperty("preemptible", false);
    }
    json.writeEndObject();
  }
}
