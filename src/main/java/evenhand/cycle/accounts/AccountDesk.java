package evenhand.cycle.accounts;

import evenhand.cycle.CycleSettings;
import evenhand.cycle.Desk;
import evenhand.cycle.FrontDesk;
import evenhand.cycle.JobState;
import evenhand.cycle.Store;
import evenhand.cycle.StoredJob;
import evenhand.cycle.Survey;
import evenhand.cycle.World;
import evenhand.facts.Account;
import evenhand.facts.Job;
import evenhand.policy.AccountTree;
import evenhand.policy.Policy;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * What people ask of the account tree, and how they change it. Names of accounts that are none are
 * {@link Desk.Refused} with code {@code NOT_FOUND}.
 */
public final class AccountDesk {
  private static final int MOST_POINTS = 1000;
  private static final int LONGEST_NOTE = 1000;
  private static final Duration UNLESS_SAID = Duration.ofDays(7);

  private final Store store;
  private final Supplier<? extends Policy> policy;
  private final CycleSettings settings;
  private final Clock clock;
  private final AccountRights rights = new AccountRights();

  public AccountDesk(
      Store store, Supplier<? extends Policy> policy, CycleSettings settings, Clock clock) {
    this.store = store;
    this.policy = policy;
    this.settings = settings;
    this.clock = clock;
  }

  /**
   * An account as it stands.
   *
   * @param depth 0 at the top
   * @param share of the whole cluster, 0 to 1 (A1)
   * @param cumulativeUsage all it was ever charged itself, TFLOP-seconds
   * @param step what it and all below it have used in the window, and how it stands among its
   *     siblings (A3); null for a retired one
   * @param unit of the window's usage
   * @param lookback the window; null where the policy keeps none
   * @param demand GPU-seconds asked for in the window by work with a minimum run time; it, {@code
   *     entitled} and {@code delivered} (A5) are null where there is no window
   * @param retiredAt when it was taken out of the tree, else null
   */
  public record AccountView(
      String id,
      String parent,
      int depth,
      double weight,
      double share,
      double cumulativeUsage,
      AccountTree.Step step,
      String unit,
      Duration lookback,
      Double demand,
      Double entitled,
      Double delivered,
      List<String> owners,
      List<String> users,
      Instant retiredAt) {}

  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MICROS);
  }

  /**
   * The tree, each account before those below it, siblings by id.
   *
   * @param retired whether retired ones are wanted too
   */
  public List<AccountView> accounts(boolean retired) {
    Policy deciding = policy.get();
    Instant now = now();
    Optional<Duration> window = settings.window(deciding);
    return store
        .accounts()
        .atOneMoment(
            book -> {
              World world = store.load(window.map(now::minus).orElse(null));
              AccountTree tree =
                  new AccountTree(Survey.accounts(world, deciding, settings, now), queued(world));
              Map<String, Account> facts = new HashMap<>();
              store.books(b -> b.accounts()).forEach(a -> facts.put(a.id(), a));
              Map<String, Account> inUse = new HashMap<>();
              world.accounts().forEach(a -> inUse.put(a.id(), a));
              HourlyFigures hours =
                  window.map(w -> new HourlyFigures(book, world, start(now, w), now)).orElse(null);
              Map<String, List<AccountBook.Entry>> below = new TreeMap<>();
              for (AccountBook.Entry e : book.entries()) {
                below
                    .computeIfAbsent(e.parent() == null ? "" : e.parent(), p -> new ArrayList<>())
                    .add(e);
              }
              List<AccountView> views = new ArrayList<>();
              new Walk(below, facts, inUse, tree, hours, window.orElse(null), retired, views)
                  .from("", 0);
              return views;
            });
  }

  private static List<Job> queued(World world) {
    return world.jobs().stream()
        .filter(j -> j.state() == JobState.GLOBAL_QUEUE_WAIT)
        .map(StoredJob::asks)
        .toList();
  }

  /** The first whole hour of the window. */
  private static Instant start(Instant now, Duration window) {
    Instant from = now.minus(window);
    Instant hour = from.truncatedTo(ChronoUnit.HOURS);
    return hour.equals(from) ? hour : hour.plus(1, ChronoUnit.HOURS);
  }

  private final class Walk {
    private final Map<String, List<AccountBook.Entry>> below;
    private final Map<String, Account> facts;
    private final Map<String, Account> inUse;
    private final AccountTree tree;
    private final HourlyFigures hours;
    private final Duration window;
    private final boolean retired;
    private final List<AccountView> views;

    Walk(
        Map<String, List<AccountBook.Entry>> below,
        Map<String, Account> facts,
        Map<String, Account> inUse,
        AccountTree tree,
        HourlyFigures hours,
        Duration window,
        boolean retired,
        List<AccountView> views) {
      this.below = below;
      this.facts = facts;
      this.inUse = inUse;
      this.tree = tree;
      this.hours = hours;
      this.window = window;
      this.retired = retired;
      this.views = views;
    }

    void from(String parent, int depth) {
      for (AccountBook.Entry e : below.getOrDefault(parent, List.of())) {
        if (retired || !e.retired() || inUse.containsKey(e.id())) {
          views.add(view(e, depth));
          from(e.id(), depth + 1);
        }
      }
    }

    private AccountView view(AccountBook.Entry e, int depth) {
      boolean used = inUse.containsKey(e.id());
      HourlyFigures.Sums sums = hours == null ? null : hours.sums(e.id(), 0, hours.hours());
      return new AccountView(
          e.id(),
          e.parent(),
          depth,
          e.weight(),
          used ? tree.share(e.id()) : 0,
          facts.get(e.id()).cumulativeUsage(),
          used && window != null ? tree.step(e.id()) : null,
          policy.get().chargeUnit().word(),
          window,
          sums == null ? null : sums.demand(),
          sums == null ? null : sums.entitled(),
          sums == null ? null : sums.delivered(),
          e.owners(),
          e.users(),
          e.retiredAt());
    }
  }

  /**
   * How an account stood over some time.
   *
   * @param share and {@code usage}, {@code ratio}: at {@code to}; the window before it counts in
   *     whole hours, but for the last point, which is now
   * @param demand GPU-seconds between {@code from} and {@code to}, as are {@code entitled} and
   *     {@code delivered}
   */
  public record Point(
      Instant from,
      Instant to,
      double share,
      double usage,
      double ratio,
      double demand,
      double entitled,
      double delivered) {}

  /**
   * An account over time, oldest first.
   *
   * @param since null for one window ago
   * @param step whole hours
   */
  public List<Point> history(String id, Instant since, Duration step) {
    Policy deciding = policy.get();
    Instant now = now();
    Duration window = settings.window(deciding).orElse(UNLESS_SAID);
    Instant begin = (since == null ? now.minus(window) : since).truncatedTo(ChronoUnit.HOURS);
    if (step.isZero() || step.isNegative() || step.toNanos() % Duration.ofHours(1).toNanos() != 0) {
      throw invalid("step", "step is a number of whole hours, e.g. 1h or 1d");
    }
    if (begin.isAfter(now)) {
      throw invalid("since", "since is after now");
    }
    if (Duration.between(begin, now).dividedBy(step) >= MOST_POINTS) {
      throw invalid(
          "step",
          "that makes more than " + MOST_POINTS + " points; take a longer step, or ask later");
    }
    int back = (int) ((window.toSeconds() + 3599) / 3600);
    return store
        .accounts()
        .atOneMoment(
            book -> {
              entry(book.entries(), id);
              World world = store.load(now.minus(window));
              HourlyFigures hours =
                  new HourlyFigures(book, world, begin.minus(back, ChronoUnit.HOURS), now);
              List<Point> points = new ArrayList<>();
              for (Instant at = begin; at.isBefore(now); at = at.plus(step)) {
                Instant end = at.plus(step).isAfter(now) ? now : at.plus(step);
                int first = back + (int) Duration.between(begin, at).toHours();
                int last = Math.min(hours.hours(), first + (int) step.toHours());
                HourlyFigures.Sums sums = hours.sums(id, first, last);
                boolean isNow = end.equals(now);
                AccountTree tree =
                    isNow
                        ? new AccountTree(
                            Survey.accounts(world, deciding, settings, now), queued(world))
                        : hours.treeAt(last, back, deciding.chargeUnit());
                boolean there =
                    isNow
                        ? world.accounts().stream().anyMatch(a -> a.id().equals(id))
                        : hours.knows(id, last);
                AccountTree.Step stands = there ? tree.step(id) : null;
                points.add(
                    new Point(
                        at,
                        end,
                        there ? tree.share(id) : 0,
                        there ? stands.usage() : 0,
                        there ? stands.ratio() : Double.NaN,
                        sums.demand(),
                        sums.entitled(),
                        sums.delivered()));
              }
              return points;
            });
  }

  /** Changes of one account and of those right below it, newest first. */
  public Desk.Page<AccountChange> changes(String id, int limit, String cursor) {
    entry(store.accounts().entries(), id);
    return page(store.accounts().changes(id, null, limit + 1, FrontDesk.before(cursor)), limit);
  }

  /** The weights of what is right below an account, by account. */
  public Map<String, Double> weights(String id) {
    List<AccountBook.Entry> all = store.accounts().entries();
    entry(all, id);
    Map<String, Double> weights = new TreeMap<>();
    below(all, id).forEach((child, e) -> weights.put(child, e.weight()));
    return weights;
  }

  /** Changes of accounts that stood right below one, newest first. */
  public Desk.Page<AccountChange> changesBelow(String id, int limit, String cursor) {
    entry(store.accounts().entries(), id);
    return page(store.accounts().changes(null, id, limit + 1, FrontDesk.before(cursor)), limit);
  }

  private static Desk.Page<AccountChange> page(List<AccountChange> read, int limit) {
    return FrontDesk.part(read, limit, change -> Long.toString(change.id()));
  }

  private static Desk.Refused invalid(String field, String message) {
    return new Desk.Refused("INVALID_REQUEST", field, null, message);
  }

  private static AccountBook.Entry entry(List<AccountBook.Entry> all, String id) {
    return all.stream()
        .filter(e -> e.id().equals(id))
        .findFirst()
        .orElseThrow(() -> new Desk.Refused("NOT_FOUND", "id", null, "there is no account " + id));
  }

  private static Map<String, AccountBook.Entry> below(List<AccountBook.Entry> all, String id) {
    Map<String, AccountBook.Entry> below = new TreeMap<>();
    for (AccountBook.Entry e : all) {
      if (id.equals(e.parent()) && !e.retired()) {
        below.put(e.id(), e);
      }
    }
    return below;
  }

  /**
   * Sets weights of accounts right below one (A2); those that are not named keep theirs. Effective
   * from the next cycle on.
   *
   * @param by who asks, an owner of the account or of one above it
   * @return what has changed; empty when all had these weights already
   * @throws Desk.Refused {@code FORBIDDEN}, or {@code INVALID_REQUEST} for an account that is not
   *     below it, a weight that is none, and for no weight above 0
   */
  public List<AccountChange> setWeights(
      String id, Map<String, Double> weights, String by, String reason) {
    return setWeights(id, weights, by, reason, false);
  }

  /**
   * The same, by somebody who may set any.
   *
   * @param any whether it does not matter who owns the account: an admin asks
   */
  public List<AccountChange> setWeights(
      String id, Map<String, Double> weights, String by, String reason, boolean any) {
    said("by", by);
    said("reason", reason);
    Instant now = now();
    return store
        .accounts()
        .change(
            all -> {
              AccountBook.Entry of = entry(all, id);
              Map<String, AccountBook.Entry> byId = new HashMap<>();
              all.forEach(e -> byId.put(e.id(), e));
              if (!any) {
                rights.mustOwn(by, id, byId);
              }
              if (of.retired()) {
                throw invalid("id", id + " is retired since " + of.retiredAt());
              }
              return new AccountBook.Amendment(
                  changed(id, below(all, id), byId, weights, now, by, reason), false);
            });
  }

  private static List<AccountChange> changed(
      String id,
      Map<String, AccountBook.Entry> below,
      Map<String, AccountBook.Entry> all,
      Map<String, Double> weights,
      Instant now,
      String by,
      String reason) {
    if (weights.isEmpty()) {
      throw invalid("weights", "name at least one account and its weight");
    }
    Map<String, Double> after = new TreeMap<>();
    below.forEach((child, e) -> after.put(child, e.weight()));
    weights.forEach(
        (child, weight) -> {
          String field = "weights." + child;
          if (!below.containsKey(child)) {
            throw invalid(
                field,
                all.containsKey(child) && all.get(child).retired()
                    ? child + " is retired since " + all.get(child).retiredAt()
                    : child
                        + " is not right below "
                        + id
                        + "; "
                        + (below.isEmpty()
                            ? "no account is"
                            : "those are " + String.join(", ", below.keySet())));
          }
          if (weight == null || !(weight >= 0) || weight.isInfinite()) {
            throw invalid(field, "a weight is a number, 0 or more; not " + weight);
          }
          after.put(child, weight);
        });
    if (after.values().stream().allMatch(w -> w == 0)) {
      throw invalid(
          "weights", "all accounts below " + id + " would have weight 0, and nobody a budget");
    }
    List<AccountChange> changes = new ArrayList<>();
    below.forEach(
        (child, e) -> {
          if (after.get(child) != e.weight()) {
            changes.add(
                new AccountChange(
                    0,
                    now,
                    child,
                    AccountChange.Kind.WEIGHT,
                    AccountChange.text(e.weight()),
                    AccountChange.text(after.get(child)),
                    id,
                    by,
                    reason));
          }
        });
    return changes;
  }

  private static void said(String field, String text) {
    if (text == null || text.isBlank() || text.length() > LONGEST_NOTE || text.indexOf('\0') >= 0) {
      throw invalid(field, field + " must be said, in at most " + LONGEST_NOTE + " characters");
    }
  }

  /** What would change if the tree became this one; nothing does. */
  public TreePlan plan(List<TreePlan.Wanted> tree, String by, String reason) {
    return store.accounts().atOneMoment(book -> plan(book, book.entries(), tree, by, reason));
  }

  /**
   * Makes the tree this one. Accounts that are not in it are retired, never deleted.
   *
   * @param version of the plan that people have seen; null: whatever the tree is now
   * @throws Desk.Refused {@code CHANGED_MEANWHILE} when the tree is not the one the plan was made
   *     on
   */
  public TreePlan apply(List<TreePlan.Wanted> tree, Long version, String by, String reason) {
    TreePlan[] made = new TreePlan[1];
    store
        .accounts()
        .change(
            all -> {
              made[0] = plan(store.accounts(), all, tree, by, reason);
              if (version != null && version != made[0].version()) {
                throw new Desk.Refused(
                    "CHANGED_MEANWHILE",
                    "version",
                    null,
                    "the tree has changed since this plan was made; nothing was applied. Make a new"
                        + " plan");
              }
              return new AccountBook.Amendment(made[0].changes(), true);
            });
    return made[0];
  }

  private TreePlan plan(
      AccountBook book,
      List<AccountBook.Entry> before,
      List<TreePlan.Wanted> tree,
      String by,
      String reason) {
    said("by", by);
    said("reason", reason);
    Map<String, TreePlan.Wanted> byId = new HashMap<>();
    Map<String, String> accountOf = new HashMap<>();
    for (TreePlan.Wanted w : tree) {
      String field = "accounts." + w.id();
      if (w.parent() != null && !byId.containsKey(w.parent())) {
        throw invalid(field, w.id() + " stands before " + w.parent() + ", which is above it");
      }
      if (byId.put(w.id(), w) != null) {
        throw invalid(field, "there are two accounts " + w.id());
      }
      if (!(w.weight() >= 0) || Double.isInfinite(w.weight())) {
        throw invalid(field, "a weight is a number, 0 or more; not " + w.weight());
      }
      for (String user : w.users()) {
        String other = accountOf.put(user, w.id());
        if (other != null) {
          throw invalid(field, "user " + user + " is one of " + other + " already");
        }
      }
    }
    Map<String, List<TreePlan.Wanted>> below =
        tree.stream().collect(Collectors.groupingBy(w -> w.parent() == null ? "" : w.parent()));
    below.forEach(
        (parent, children) -> {
          if (children.stream().allMatch(w -> w.weight() == 0)) {
            throw invalid(
                "accounts",
                "all accounts "
                    + (parent.isEmpty() ? "at the top" : "below " + parent)
                    + " have weight 0, and nobody a budget");
          }
          if (!parent.isEmpty() && !byId.get(parent).users().isEmpty()) {
            throw invalid(
                "accounts." + parent, parent + " has accounts below it, so no users of its own");
          }
        });
    if (tree.isEmpty()) {
      throw invalid("accounts", "a tree has at least one account");
    }
    long version =
        book.changes(null, null, 1, Long.MAX_VALUE).stream()
            .findFirst()
            .map(AccountChange::id)
            .orElse(0L);
    return TreePlan.of(before, tree, book.openJobs(), now(), by, reason, version);
  }

  /** The account a person's jobs are charged to where they name none; null when there is none. */
  public static String accountOf(AccountBook book, String user) {
    return book.entries().stream()
        .filter(e -> e.users().contains(user))
        .findFirst()
        .map(AccountBook.Entry::id)
        .orElse(null);
  }
}
