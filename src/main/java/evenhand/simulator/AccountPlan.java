package evenhand.simulator;

import evenhand.cycle.AccountSetup;
import evenhand.input.Document;
import evenhand.input.Field;
import evenhand.input.InputFault;
import evenhand.input.Section;
import evenhand.input.Shape;
import evenhand.input.Value;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * A tree of accounts as somebody wrote it down: for a simulation, or to be applied to the service.
 *
 * @param accounts parents before their children
 * @param owners of accounts that have some, sorted (A2)
 * @param userAccounts the account of a user, for jobs that name only the user
 * @param changes of weights, earliest first (A2)
 * @param given whether somebody wrote them down; where nobody did, every account that a job names
 *     is one of its own with weight 1
 */
public record AccountPlan(
    List<AccountSetup> accounts,
    Map<String, List<String>> owners,
    Map<String, String> userAccounts,
    List<Change> changes,
    boolean given) {

  /** The account of jobs that name none, and whose user has none. */
  public static final String DEFAULT = "default";

  public AccountPlan {
    accounts = List.copyOf(accounts);
    owners = Map.copyOf(owners);
    userAccounts = Map.copyOf(userAccounts);
    changes = changes.stream().sorted(Comparator.comparingLong(Change::atMicros)).toList();
  }

  /** From this moment on the account has this weight among its siblings. */
  public record Change(long atMicros, String account, double weight) {}

  /** No accounts but those that jobs name. */
  public static AccountPlan none() {
    return new AccountPlan(List.of(), Map.of(), Map.of(), List.of(), false);
  }

  private static final Field<Double> WEIGHT = Field.number("weight", 0, 1e12).or(1.0);
  private static final Field<Value> CHILDREN = Field.any("children", "accounts by name").or(null);
  private static final Field<List<String>> USERS =
      Field.texts("users", 100_000, "a user", t -> !t.isBlank()).or(List.of());
  private static final Field<List<String>> OWNERS =
      Field.texts("owners", 1000, "a user", t -> !t.isBlank()).or(List.of());
  private static final Shape ACCOUNT = Shape.of("an account", WEIGHT, OWNERS, USERS, CHILDREN);

  private static final Field<Duration> AT = Field.duration("at");
  private static final Field<String> OF = Field.text("account");
  private static final Field<Double> TO = Field.number("weight", 0, 1e12);
  private static final Shape CHANGE = Shape.of("a change of weight", AT, OF, TO);
  private static final String CHANGES = "weight_changes";

  /**
   * Reads a tree of accounts: {@code ai2: {weight: 1, owners: [ada], children: {lab: {users:
   * [kim]}}}}; at the top may stand {@code weight_changes: [{at: 7d, account: lab, weight: 2}]}.
   *
   * @throws InputFault naming every fault with its line
   */
  public static AccountPlan read(String file, String text) {
    Document document = Document.yaml(file, text);
    Value top = document.top();
    if (top.kind() != Value.Kind.OBJECT) {
      throw new InputFault(file, top.line(), "", "must be accounts by name");
    }
    Map<String, AccountSetup> accounts = new LinkedHashMap<>();
    Map<String, List<String>> owners = new HashMap<>();
    Map<String, String> users = new HashMap<>();
    List<Change> changes = new ArrayList<>();
    Value written = top.members().get(CHANGES);
    top.members()
        .forEach(
            (id, value) -> {
              if (!id.equals(CHANGES)) {
                account(id, null, value, accounts, owners, users);
              }
            });
    if (written != null) {
      if (written.kind() != Value.Kind.LIST) {
        written.fault("must be a list of changes: {at, account, weight}");
      } else {
        for (Value item : written.items()) {
          Section s = item.section(CHANGE);
          if (s != null) {
            if (!accounts.containsKey(s.get(OF))) {
              s.fault(OF, "there is no account " + s.get(OF));
            }
            changes.add(new Change(Micros.of(s.get(AT)), s.get(OF), s.get(TO)));
          }
        }
      }
    }
    document.check();
    return new AccountPlan(List.copyOf(accounts.values()), owners, users, changes, true);
  }

  private static void account(
      String id,
      String parent,
      Value value,
      Map<String, AccountSetup> accounts,
      Map<String, List<String>> owners,
      Map<String, String> users) {
    Section s = value.section(ACCOUNT);
    if (s == null) {
      return;
    }
    if (accounts.put(id, new AccountSetup(id, parent, s.get(WEIGHT))) != null) {
      value.fault("there is another account of this name");
      return;
    }
    if (!s.get(OWNERS).isEmpty()) {
      owners.put(id, s.get(OWNERS).stream().distinct().sorted().toList());
    }
    Value children = s.get(CHILDREN);
    if (children != null && !s.get(USERS).isEmpty()) {
      s.fault(USERS, "only an account without children may have users");
    }
    for (String user : s.get(USERS)) {
      String other = users.put(user, id);
      if (other != null) {
        s.fault(USERS, "user " + user + " is one of " + other + " already");
      }
    }
    if (children != null) {
      if (children.kind() != Value.Kind.OBJECT) {
        children.fault("must be accounts by name");
        return;
      }
      children.members().forEach((child, v) -> account(child, id, v, accounts, owners, users));
    }
  }

  /** The account a job is charged to. */
  String accountOf(TraceJob job) {
    if (job.account() != null) {
      return job.account();
    }
    return job.user() == null ? DEFAULT : userAccounts.getOrDefault(job.user(), DEFAULT);
  }

  /** The job set with jobs of accounts that are not written down listed as unreadable. */
  public Trace known(Trace trace) {
    if (!given) {
      return trace;
    }
    Set<String> ids = new TreeSet<>(Set.of(DEFAULT));
    accounts.forEach(a -> ids.add(a.id()));
    List<TraceJob> jobs = new ArrayList<>();
    List<Trace.Unreadable> unreadable = new ArrayList<>(trace.unreadable());
    for (TraceJob job : trace.jobs()) {
      if (ids.contains(accountOf(job))) {
        jobs.add(job);
      } else {
        unreadable.add(
            new Trace.Unreadable(
                job.line(),
                "account " + job.account() + " is not among the accounts",
                "job_id " + job.id()));
      }
    }
    unreadable.sort(Comparator.comparingInt(Trace.Unreadable::line));
    return new Trace(jobs, unreadable, trace.rows());
  }

  /**
   * All accounts of a simulation of these jobs: those written down, and those that jobs name where
   * none are written down. {@link #DEFAULT} has a budget only where there is no other plan: beside
   * one, work that is nobody's must not take from anybody's share.
   */
  List<AccountSetup> with(List<TraceJob> jobs) {
    Map<String, AccountSetup> all = new LinkedHashMap<>();
    accounts.forEach(a -> all.put(a.id(), a));
    Set<String> named = new TreeSet<>();
    jobs.forEach(job -> named.add(accountOf(job)));
    for (String id : named) {
      if (!given || id.equals(DEFAULT)) {
        all.putIfAbsent(id, new AccountSetup(id, null, given ? 0 : 1));
      }
    }
    return List.copyOf(all.values());
  }
}
