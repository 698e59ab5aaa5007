package evenhand.simulator;

import evenhand.cycle.AccountSetup;
import evenhand.cycle.Attempt;
import evenhand.cycle.Changes;
import evenhand.cycle.Desk;
import evenhand.cycle.JobState;
import evenhand.cycle.NewJob;
import evenhand.cycle.Order;
import evenhand.cycle.Overtaken;
import evenhand.cycle.Stock;
import evenhand.cycle.Store;
import evenhand.cycle.StoredJob;
import evenhand.cycle.SubmitOrder;
import evenhand.cycle.Token;
import evenhand.cycle.World;
import evenhand.facts.Account;
import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Tier;
import evenhand.outcomes.Decision;
import evenhand.outcomes.HoldingCost;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The memory, in memory: the same promises as PostgreSQL's, lost when the process ends. One call at
 * a time.
 */
public final class MemoryStore implements Store {
  private final String installation;

  private final Map<String, Tier> tiers = new LinkedHashMap<>();
  private final Map<String, Account> accounts = new LinkedHashMap<>();
  private final Map<String, Stock> stock = new TreeMap<>();
  private final NavigableMap<Long, StoredJob> jobs = new TreeMap<>();
  private final Map<Long, StoredJob> open = new TreeMap<>();
  private final Map<Long, NewJob> submissions = new HashMap<>();
  private final Map<String, Keyed> keys = new HashMap<>();
  private final Map<Token, Attempt> attempts = new HashMap<>();
  private final Map<Token, Attempt> openAttempts = new LinkedHashMap<>();
  private final Map<Long, Attempt> newest = new HashMap<>();
  private final NavigableMap<Long, Order> openOrders = new TreeMap<>();
  private final List<LedgerRow> ledger = new ArrayList<>();
  private final List<Earlier> earlier = new ArrayList<>();
  private final Map<Long, List<Integer>> uncharged = new HashMap<>();
  private final Map<Long, Double> charged = new HashMap<>();
  private final NavigableMap<Long, Recorded> decisions = new TreeMap<>();
  private long lastJob;
  private long lastOrder;
  private long lastDecision;

  private record Earlier(String account, double gpuSeconds, Instant at) {}

  private record Keyed(long job, String digest, Instant at) {}

  private record Recorded(Desk.DecisionView view, String snapshot, List<Long> jobs) {}

  public MemoryStore() {
    this("mem");
  }

  /**
   * @param installation the word in its tokens; one of its own for each store that shares a cluster
   */
  public MemoryStore(String installation) {
    this.installation = installation;
  }

  @Override
  public String installation() {
    return installation;
  }

  @Override
  public boolean lead() {
    return true;
  }

  @Override
  public synchronized void setUp(List<Tier> setTiers, List<AccountSetup> setAccounts, Instant now) {
    tiers.keySet().retainAll(setTiers.stream().map(Tier::name).toList());
    stock.values().removeIf(s -> !tiers.containsKey(s.tier().name()));
    for (Tier tier : setTiers) {
      tiers.put(tier.name(), tier);
      stock.replaceAll(
          (key, s) ->
              s.tier().name().equals(tier.name())
                  ? new Stock(s.node(), tier, s.capacity(), s.state(), s.reason())
                  : s);
    }
    for (AccountSetup setup : setAccounts) {
      if (setup.parent() != null && !accounts.containsKey(setup.parent())) {
        throw new IllegalArgumentException(
            "account " + setup.id() + ": its parent " + setup.parent() + " is not known");
      }
      Account old = accounts.get(setup.id());
      accounts.put(
          setup.id(),
          old == null
              ? new Account(setup.id(), setup.parent(), setup.weight(), 0, 0)
              : new Account(old.id(), setup.parent(), old.weight(), old.cumulativeUsage(), 0));
    }
  }

  @Override
  public synchronized boolean see(List<Stock> seen, Instant at) {
    Map<String, Stock> before = new HashMap<>(stock);
    Map<String, Stock> now = new HashMap<>();
    for (Stock s : seen) {
      now.put(s.node() + "\n" + s.tier().name(), s);
    }
    stock.replaceAll(
        (key, s) ->
            now.containsKey(key)
                ? s
                : new Stock(s.node(), s.tier(), s.capacity(), NodeState.DOWN, Stock.GONE));
    stock.putAll(now);
    stock.values().removeIf(s -> s.capacity() == 0);
    return !before.equals(stock);
  }

  @Override
  public synchronized World load(Instant window) {
    Map<String, Double> used = new HashMap<>();
    if (window != null) {
      for (Earlier e : earlier) {
        if (e.at().isAfter(window)) {
          used.merge(e.account(), e.gpuSeconds(), Double::sum);
        }
      }
      for (LedgerRow row : ledger) {
        if (row.kind().equals(HoldingCost.RUN)
            && row.chargedAt() != null
            && row.to().isAfter(window)) {
          Instant from = row.from().isAfter(window) ? row.from() : window;
          double seconds = Duration.between(from, row.to()).toNanos() / 1e9;
          used.merge(row.account(), row.gpus() * seconds, Double::sum);
        }
      }
    }
    List<Account> all = new ArrayList<>(accounts.size());
    for (Account a : accounts.values()) {
      all.add(
          new Account(
              a.id(), a.parent(), a.weight(), a.cumulativeUsage(), used.getOrDefault(a.id(), 0.0)));
    }
    return new World(
        tiers.values().stream().sorted(Comparator.comparingInt(Tier::sortOrder)).toList(),
        List.copyOf(stock.values()),
        all,
        List.copyOf(open.values()),
        openAttempts.values().stream()
            .sorted(Comparator.comparingLong(Attempt::job).thenComparingInt(Attempt::attempt))
            .toList());
  }

  @Override
  public synchronized String commit(Changes changes) {
    for (StoredJob job : changes.jobs()) {
      StoredJob stored = jobs.get(job.id());
      if (stored == null || stored.version() != job.version()) {
        throw new Overtaken("job " + job.id() + " has changed since it was read");
      }
    }
    for (Attempt attempt : changes.attempts()) {
      if (!openAttempts.containsKey(key(attempt))) {
        throw new Overtaken(
            "attempt " + attempt.attempt() + " of job " + attempt.job() + " has ended already");
      }
    }
    for (Order order : changes.orders()) {
      Order stored = openOrders.get(order.id());
      if (stored == null || stored.tries() > order.tries() || stored.tries() < order.tries() - 1) {
        throw new Overtaken("order " + order.id() + " has changed since it was read");
      }
    }
    changes.jobs().forEach(this::keep);
    for (Attempt attempt : changes.begun()) {
      keep(attempt);
    }
    changes.attempts().forEach(this::keep);
    for (Changes.Held held : changes.ledger()) {
      append(held);
    }
    for (Changes.Charged c : changes.charges()) {
      charge(c.charge().account(), c.charge().tflopSeconds());
      long job = Long.parseLong(c.charge().job());
      charged.merge(job, c.charge().tflopSeconds(), Double::sum);
      for (int row : uncharged.getOrDefault(job, List.of())) {
        ledger.set(row, charged(ledger.get(row), changes.at()));
      }
      uncharged.remove(job);
    }
    for (Order order : changes.written()) {
      long id = ++lastOrder;
      openOrders.put(id, order.numbered(id));
    }
    for (Order order : changes.orders()) {
      if (order.closedAt() == null) {
        openOrders.put(order.id(), order);
      } else {
        openOrders.remove(order.id());
      }
    }
    for (Changes.Finish finish : changes.finished()) {
      openOrders
          .values()
          .removeIf(
              o ->
                  o.token().equals(finish.token())
                      && (finish.kind() == null || o.kind() == finish.kind()));
    }
    if (changes.decision() == null) {
      return null;
    }
    long id = ++lastDecision;
    Decision decision = changes.decision().decision();
    decisions.put(
        id,
        new Recorded(
            new Desk.DecisionView(
                Long.toString(id),
                decision.now(),
                decision.policy(),
                decision.policyHash(),
                changes.decision().decisionJson()),
            changes.decision().snapshotJson(),
            changes.decision().jobs()));
    return Long.toString(id);
  }

  /**
   * Adds to an account's usage what jobs that nobody follows have cost it: scenarios' {@code
   * charge}.
   *
   * @throws IllegalArgumentException when there is no such account
   */
  public synchronized void charge(String account, double tflopSeconds) {
    Account old = accounts.get(account);
    if (old == null) {
      throw new IllegalArgumentException("there is no account " + account);
    }
    accounts.put(
        account,
        new Account(old.id(), old.parent(), old.weight(), old.cumulativeUsage() + tflopSeconds, 0));
  }

  /**
   * What an account was charged in a moment that this store has not seen: part of its window (A3)
   * until that moment has left it.
   */
  public synchronized void usedBefore(String account, double gpuSeconds, Instant at) {
    earlier.add(new Earlier(account, gpuSeconds, at));
  }

  private Token key(Attempt attempt) {
    return new Token(installation, attempt.job(), attempt.attempt());
  }

  private void keep(StoredJob job) {
    StoredJob next =
        new StoredJob(
            job.id(),
            job.asks(),
            job.name(),
            job.state(),
            job.stateReason(),
            job.submittedAt(),
            job.startedAt(),
            job.endedAt(),
            job.exitCode(),
            job.timeLimitSeconds(),
            job.reservation(),
            job.carriedTflopSeconds(),
            job.nodeFailures(),
            job.version() + 1);
    jobs.put(next.id(), next);
    if (next.state().ended()) {
      open.remove(next.id());
    } else {
      open.put(next.id(), next);
    }
  }

  private void keep(Attempt attempt) {
    Token key = key(attempt);
    attempts.put(key, attempt);
    newest.merge(attempt.job(), attempt, (old, now) -> now.attempt() >= old.attempt() ? now : old);
    if (attempt.endedAt() == null) {
      openAttempts.put(key, attempt);
    } else {
      openAttempts.remove(key);
    }
  }

  private void append(Changes.Held held) {
    HoldingCost cost = held.cost();
    long job = Long.parseLong(cost.job());
    uncharged.computeIfAbsent(job, j -> new ArrayList<>()).add(ledger.size());
    ledger.add(
        new LedgerRow(
            ledger.size() + 1L,
            cost.kind(),
            job,
            held.attempt(),
            cost.account(),
            cost.node(),
            cost.tier().name(),
            cost.gpus(),
            cost.from(),
            cost.to(),
            cost.tflopSeconds(),
            null));
  }

  private static LedgerRow charged(LedgerRow row, Instant at) {
    return new LedgerRow(
        row.id(),
        row.kind(),
        row.job(),
        row.attempt(),
        row.account(),
        row.node(),
        row.tier(),
        row.gpus(),
        row.from(),
        row.to(),
        row.tflopSeconds(),
        at);
  }

  @Override
  public synchronized List<Order> due(Instant now, int limit) {
    List<Order> due = new ArrayList<>();
    for (Order.Kind kind : Order.Kind.values()) {
      openOrders.values().stream()
          .filter(o -> o.kind() == kind && !o.nextTryAt().isAfter(now))
          .limit(limit)
          .forEach(due::add);
    }
    return due;
  }

  @Override
  public synchronized Optional<Order> open(Order.Kind kind, Token token) {
    return openOrders.values().stream()
        .filter(o -> o.kind() == kind && o.token().equals(token))
        .findFirst();
  }

  @Override
  public synchronized SubmitOrder submitOrder(Token token) {
    NewJob job = submissions.get(token.job());
    Attempt attempt = attempts.get(token);
    if (job == null || attempt == null) {
      throw new IllegalArgumentException("there is no attempt " + token.text());
    }
    return new SubmitOrder(
        token,
        job.name(),
        job.account(),
        job.user(),
        attempt.on(),
        job.timeLimitSeconds(),
        job.script(),
        job.arguments(),
        job.environment(),
        job.workdir());
  }

  @Override
  public synchronized Added add(
      NewJob job, int minimumTierSortOrder, String remark, Key key, Instant now) {
    if (key != null) {
      Optional<Added> before = added(key);
      if (before.isPresent()) {
        return before.get();
      }
    }
    if (!accounts.containsKey(job.account())) {
      throw new IllegalArgumentException("there is no account " + job.account());
    }
    long id = ++lastJob;
    Job asks =
        new Job(
            Long.toString(id),
            job.account(),
            job.user(),
            job.nodes(),
            job.numGpus(),
            job.tier(),
            minimumTierSortOrder,
            job.priority(),
            now,
            job.minRuntimeSeconds(),
            job.resumable(),
            1);
    keep(
        new StoredJob(
            id,
            asks,
            job.name(),
            JobState.GLOBAL_QUEUE_WAIT,
            remark,
            now,
            null,
            null,
            null,
            job.timeLimitSeconds(),
            null,
            0,
            0,
            0));
    submissions.put(id, job);
    if (key != null) {
      keys.put(key.account() + "\n" + key.text(), new Keyed(id, key.digest(), now));
    }
    return new Added(record(id), true, true);
  }

  @Override
  public synchronized Optional<Added> added(Key key) {
    Keyed before = keys.get(key.account() + "\n" + key.text());
    return before == null
        ? Optional.empty()
        : Optional.of(new Added(record(before.job()), false, before.digest().equals(key.digest())));
  }

  @Override
  public synchronized Optional<JobRecord> job(long id) {
    return jobs.containsKey(id) ? Optional.of(record(id)) : Optional.empty();
  }

  @Override
  public synchronized List<JobRecord> jobs(JobState state, String account, int limit, long before) {
    return jobs.headMap(before, false).descendingMap().values().stream()
        .filter(j -> state == null || j.state() == state)
        .filter(j -> account == null || j.asks().account().equals(account))
        .limit(limit)
        .map(j -> record(j.id()))
        .toList();
  }

  private JobRecord record(long id) {
    return new JobRecord(jobs.get(id), newest.get(id), charged.getOrDefault(id, 0.0));
  }

  @Override
  public synchronized List<Desk.DecisionView> decisions(Long job, int limit, long before) {
    return decisions.headMap(before, false).descendingMap().values().stream()
        .filter(d -> job == null || d.jobs().contains(job))
        .limit(limit)
        .map(Recorded::view)
        .toList();
  }

  @Override
  public synchronized Optional<Desk.DecisionView> decision(long id) {
    return Optional.ofNullable(decisions.get(id)).map(Recorded::view);
  }

  @Override
  public synchronized Optional<String> snapshot(long decision) {
    return Optional.ofNullable(decisions.get(decision)).map(Recorded::snapshot);
  }

  @Override
  public synchronized List<LedgerRow> ledger(String account, Long job, int limit, long before) {
    List<LedgerRow> rows = new ArrayList<>();
    for (int i = (int) Math.min(ledger.size(), before - 1) - 1;
        i >= 0 && rows.size() < limit;
        i--) {
      LedgerRow row = ledger.get(i);
      if ((account == null || row.account().equals(account)) && (job == null || row.job() == job)) {
        rows.add(row);
      }
    }
    return rows;
  }

  @Override
  public synchronized void forget(Duration olderThan, Instant now) {
    Instant limit = now.minus(olderThan);
    decisions.values().removeIf(d -> d.view().at().isBefore(limit));
    keys.values().removeIf(k -> k.at().isBefore(limit));
  }
}
