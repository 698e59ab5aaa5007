package evenhand.simulator;

import evenhand.cycle.AccountSetup;
import evenhand.cycle.Attempt;
import evenhand.cycle.Books;
import evenhand.cycle.Changes;
import evenhand.cycle.DecisionFilter;
import evenhand.cycle.DecisionFound;
import evenhand.cycle.Desk;
import evenhand.cycle.JobState;
import evenhand.cycle.NewJob;
import evenhand.cycle.NodeDrain;
import evenhand.cycle.Order;
import evenhand.cycle.Overtaken;
import evenhand.cycle.Stock;
import evenhand.cycle.Store;
import evenhand.cycle.StoredJob;
import evenhand.cycle.SubmitOrder;
import evenhand.cycle.Token;
import evenhand.cycle.World;
import evenhand.cycle.accounts.AccountBook;
import evenhand.cycle.accounts.InUse;
import evenhand.facts.Account;
import evenhand.facts.Claim;
import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Tier;
import evenhand.input.Document;
import evenhand.input.Value;
import evenhand.outcomes.Decision;
import evenhand.outcomes.HoldingCost;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The memory, in memory: the same promises as PostgreSQL's, lost when the process ends. One call at
 * a time.
 */
public final class MemoryStore implements Store {
  private final String installation;

  private final Map<String, Tier> tiers = new LinkedHashMap<>();
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
  private final Map<Long, List<Integer>> uncharged = new HashMap<>();
  private final Map<Long, Double> charged = new HashMap<>();
  private final NavigableMap<Long, Recorded> decisions = new TreeMap<>();
  private long lastJob;
  private long lastOrder;
  private long lastDecision;

  private record Keyed(long job, String digest, Instant at) {}

  private final List<Books.ChargeRow> charges = new ArrayList<>();
  private final List<Books.Correction> corrections = new ArrayList<>();
  private final List<Books.Span> spans = new ArrayList<>();
  private final MemoryAccounts accounts = new MemoryAccounts(this, ledger, jobs.values(), spans);
  private final Map<String, Integer> openSpans = new TreeMap<>();
  private final List<Books.ClockStep> clockSteps = new ArrayList<>();
  private final Map<String, Map<String, String>> policyTexts = new HashMap<>();
  private final NavigableMap<Long, NodeDrain> drains = new TreeMap<>();
  private Claim claim;
  private Instant lastReading;

  private record Recorded(
      Desk.DecisionView view, String snapshotHash, String snapshot, List<Long> jobs) {}

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
    accounts.setUp(setAccounts, now);
  }

  @Override
  public AccountBook accounts() {
    return accounts;
  }

  @Override
  public synchronized boolean see(List<Stock> seen, List<Outside> outside, Instant at) {
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
    if (lastReading != null && at.isBefore(lastReading)) {
      clockSteps.add(new Books.ClockStep(lastReading, at));
    }
    lastReading = at;
    noteSpans(outside, at);
    return !before.equals(stock);
  }

  private void noteSpans(List<Outside> outside, Instant at) {
    Map<String, Integer> used = new HashMap<>();
    outside.forEach(o -> used.put(o.node() + "\n" + o.tier(), o.gpus()));
    Map<String, Integer> open = new TreeMap<>(openSpans);
    stock.forEach(
        (key, s) -> {
          Integer index = open.remove(key);
          Books.Span span = index == null ? null : spans.get(index);
          int others = used.getOrDefault(key, 0);
          if (span != null
              && span.capacity() == s.capacity()
              && span.state() == s.state()
              && span.outside() == others) {
            return;
          }
          Instant from = span == null ? at : close(key, index, at);
          openSpans.put(key, spans.size());
          spans.add(
              new Books.Span(
                  spans.size() + 1L,
                  s.node(),
                  s.tier().name(),
                  s.capacity(),
                  s.state(),
                  others,
                  from,
                  null));
        });
    open.forEach((key, index) -> close(key, index, at));
  }

  /** Ends a span and gives the moment of it: never before it began. */
  private Instant close(String key, int index, Instant at) {
    Books.Span s = spans.get(index);
    Instant end = at.isBefore(s.from()) ? s.from() : at;
    spans.set(
        index,
        new Books.Span(
            s.id(), s.node(), s.tier(), s.capacity(), s.state(), s.outside(), s.from(), end));
    openSpans.remove(key);
    return end;
  }

  @Override
  public synchronized World load(Instant window) {
    InUse inUse =
        accounts.inUse(
            open.values().stream().map(j -> j.asks().account()).collect(Collectors.toSet()),
            window);
    return new World(
        tiers.values().stream().sorted(Comparator.comparingInt(Tier::sortOrder)).toList(),
        List.copyOf(stock.values()),
        inUse.accounts(),
        List.copyOf(open.values()),
        openAttempts.values().stream()
            .sorted(Comparator.comparingLong(Attempt::job).thenComparingInt(Attempt::attempt))
            .toList(),
        inUse.used(),
        drains.values().stream().filter(d -> d.endedAt() == null).toList(),
        claim);
  }

  @Override
  public synchronized World inventory() {
    World world = load(null);
    return new World(
        world.tiers(),
        world.stock(),
        accounts.inUse(Set.of(), null).accounts(),
        List.of(),
        List.of(),
        Map.of(),
        world.drains(),
        null);
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
    for (NodeDrain d : changes.drains()) {
      boolean open =
          drains.values().stream()
              .anyMatch(
                  o ->
                      o.endedAt() == null
                          && (d.id() == 0
                              ? o.node().equals(d.node()) && o.source() == d.source()
                              : o.id() == d.id()));
      if (open == (d.id() == 0)) {
        throw new Overtaken("the drain of node " + d.node() + " has changed since it was read");
      }
    }
    if (changes.claimEnd() != null
        && (claim == null || !claim.job().equals(Long.toString(changes.claimEnd().job())))) {
      throw new Overtaken(
          "the claim of job " + changes.claimEnd().job() + " has changed since it was read");
    }
    for (NodeDrain d : changes.drains()) {
      long id = d.id() == 0 ? drains.size() + 1L : d.id();
      drains.put(id, d.numbered(id));
    }
    if (changes.claimEnd() != null) {
      claim = null;
    }
    if (changes.claim() != null) {
      claim = changes.claim();
    }
    changes.jobs().forEach(this::keep);
    for (Attempt attempt : changes.begun()) {
      keep(attempt);
    }
    changes.attempts().forEach(this::keep);
    int appended = 0;
    for (Changes.Charged c : changes.charges()) {
      for (; appended < c.after(); appended++) {
        append(changes.ledger().get(appended));
      }
      accounts.use(c.charge().account(), c.charge().tflopSeconds());
      long job = Long.parseLong(c.charge().job());
      charged.merge(job, c.charge().tflopSeconds(), Double::sum);
      long id = charges.size() + 1L;
      charges.add(
          new Books.ChargeRow(
              id,
              changes.at(),
              c.charge().account(),
              job,
              c.attempt(),
              c.charge().tflopSeconds(),
              c.charge().factor(),
              c.rule()));
      for (int row : uncharged.getOrDefault(job, List.of())) {
        ledger.set(row, charged(ledger.get(row), id, changes.at(), c.charge().factor()));
      }
      uncharged.remove(job);
    }
    for (; appended < changes.ledger().size(); appended++) {
      append(changes.ledger().get(appended));
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
    for (Token token : changes.hurried()) {
      openOrders.replaceAll(
          (id, o) ->
              o.kind() == Order.Kind.SUBMIT && o.token().equals(token)
                  ? o.later(changes.at(), o.inDoubt(), o.answer())
                  : o);
    }
    if (changes.decision() == null) {
      return null;
    }
    long id = ++lastDecision;
    Decision decision = changes.decision().decision();
    if (!changes.decision().policyTexts().isEmpty()) {
      policyTexts.putIfAbsent(decision.policyHash(), changes.decision().policyTexts());
    }
    decisions.put(
        id,
        new Recorded(
            new Desk.DecisionView(
                Long.toString(id),
                decision.now(),
                decision.policy(),
                decision.policyHash(),
                changes.decision().decisionJson()),
            decision.snapshotHash(),
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
    correct(
        new Books.Correction(
            0,
            lastReading == null ? Instant.EPOCH : lastReading,
            Books.Correction.CORRECTION,
            account,
            tflopSeconds,
            "charged for jobs that nobody follows",
            "a scenario",
            null));
  }

  /**
   * What an account was charged in a moment that this store has not seen: part of its window (A3)
   * until that moment has left it.
   *
   * @param amount in the unit of the policy's windows
   */
  public synchronized void usedBefore(String account, double amount, Instant at) {
    accounts.usedBefore(account, amount, at);
  }

  @Override
  public synchronized Optional<Books.Correction> correct(Books.Correction c) {
    Optional<Books.Correction> before =
        corrections.stream().filter(o -> c.key() != null && c.key().equals(o.key())).findFirst();
    if (before.isPresent()) {
      return before;
    }
    Account account = accounts.get(c.account());
    if (account == null || account.cumulativeUsage() + c.tflopSeconds() <= -1e-6) {
      return Optional.empty();
    }
    accounts.use(c.account(), Math.max(c.tflopSeconds(), -account.cumulativeUsage()));
    Books.Correction made =
        new Books.Correction(
            corrections.size() + 1L,
            c.at(),
            c.kind(),
            c.account(),
            c.tflopSeconds(),
            c.reason(),
            c.by(),
            c.key());
    corrections.add(made);
    return Optional.of(made);
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
    Attempt run = attempts.get(new Token(installation, job, held.attempt()));
    if (!cost.kind().equals(HoldingCost.UNALLOCATED)) {
      uncharged.computeIfAbsent(job, j -> new ArrayList<>()).add(ledger.size());
    }
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
            run == null || cost.kind().equals(HoldingCost.RESERVED) ? cost.from() : run.decidedAt(),
            cost.from(),
            cost.to(),
            cost.tflopSeconds(),
            cost.tier().tflops(),
            null,
            null,
            1));
  }

  private static LedgerRow charged(LedgerRow row, long charge, Instant at, double factor) {
    return new LedgerRow(
        row.id(),
        row.kind(),
        row.job(),
        row.attempt(),
        row.account(),
        row.node(),
        row.tier(),
        row.gpus(),
        row.given(),
        row.from(),
        row.to(),
        row.tflopSeconds(),
        row.tflops(),
        charge,
        at,
        factor);
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
        job.workdir(),
        (int)
            attempts.values().stream()
                .filter(a -> a.job() == token.job() && a.attempt() < token.attempt())
                .filter(a -> a.startedAt() != null)
                .count());
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
    if (accounts.get(job.account()) == null) {
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
            1,
            job.preemptible());
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
  public synchronized List<JobRecord> jobs(
      JobState state, String account, String user, int limit, long before) {
    return jobs.headMap(before, false).descendingMap().values().stream()
        .filter(j -> state == null || j.state() == state)
        .filter(j -> account == null || j.asks().account().equals(account))
        .filter(j -> user == null || j.asks().user().equals(user))
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
        .map(v -> new Desk.DecisionView(v.id(), v.at(), v.policy(), v.policyHash(), null))
        .toList();
  }

  @Override
  public synchronized List<DecisionFound> findDecisions(
      DecisionFilter filter, int limit, long before) {
    return decisions.headMap(before, false).descendingMap().values().stream()
        .filter(d -> filter.since() == null || !d.view().at().isBefore(filter.since()))
        .filter(d -> filter.until() == null || d.view().at().isBefore(filter.until()))
        .filter(d -> says(d, filter))
        .limit(limit)
        .map(
            d ->
                new DecisionFound(
                    d.view().id(),
                    d.view().at(),
                    d.view().policy(),
                    d.view().policyHash(),
                    said(d).entrySet().stream()
                        .map(
                            e ->
                                new DecisionFound.Said(
                                    e.getKey(),
                                    e.getValue().size(),
                                    e.getValue().stream()
                                        .limit(5)
                                        .map(job -> Long.toString(job))
                                        .toList()))
                        .toList()))
        .toList();
  }

  /** The jobs that it had something new to say about, by clause. */
  private static Map<String, Set<Long>> said(Recorded decision) {
    Map<String, Set<Long>> said = new TreeMap<>();
    Map<String, Value> whole = Document.json("decision", decision.view().json()).top().members();
    for (Value outcome : whole.get("outcomes").items()) {
      long job = Long.parseLong(outcome.members().get("job").text());
      if (decision.jobs().contains(job)) {
        said.computeIfAbsent(outcome.members().get("rule").text(), r -> new TreeSet<>()).add(job);
      }
    }
    return said;
  }

  private boolean says(Recorded decision, DecisionFilter filter) {
    if (filter.clause() == null && filter.account() == null && filter.job() == null) {
      return true;
    }
    Collection<Long> about =
        filter.clause() == null
            ? decision.jobs()
            : said(decision).getOrDefault(filter.clause(), Set.of());
    return about.stream()
        .filter(job -> filter.job() == null || filter.job().equals(job))
        .anyMatch(
            job ->
                filter.account() == null
                    || filter.account().equals(jobs.get(job).asks().account()));
  }

  @Override
  public synchronized Optional<Desk.DecisionView> decision(long id) {
    return Optional.ofNullable(decisions.get(id)).map(Recorded::view);
  }

  @Override
  public synchronized Map<Long, Desk.DecisionView> lastSaid(List<Long> wanted) {
    Map<Long, Desk.DecisionView> said = new HashMap<>();
    for (long job : wanted) {
      decisions(job, 1, Long.MAX_VALUE).forEach(view -> said.put(job, view));
    }
    return said;
  }

  @Override
  public synchronized Backlog backlog() {
    return new Backlog(
        openOrders.size(),
        openOrders.values().stream()
            .map(Order::createdAt)
            .min(Comparator.naturalOrder())
            .orElse(null));
  }

  @Override
  public synchronized Optional<String> snapshot(long decision) {
    return Optional.ofNullable(decisions.get(decision)).map(Recorded::snapshot);
  }

  @Override
  public synchronized Optional<Receipt> receipt(long decision) {
    return Optional.ofNullable(decisions.get(decision))
        .map(
            d ->
                new Receipt(
                    decision,
                    d.view().at(),
                    d.view().policy(),
                    d.view().policyHash(),
                    d.snapshotHash(),
                    d.view().json(),
                    d.snapshot(),
                    policyTexts.getOrDefault(d.view().policyHash(), Map.of())));
  }

  @Override
  public synchronized List<LedgerRow> ledger(LedgerFilter filter, int limit, long before) {
    List<LedgerRow> rows = new ArrayList<>();
    for (int i = (int) Math.min(ledger.size(), before - 1) - 1;
        i >= 0 && rows.size() < limit;
        i--) {
      LedgerRow row = ledger.get(i);
      if (filter.means(row)) {
        rows.add(row);
      }
    }
    return rows;
  }

  @Override
  public synchronized List<NodeDrain> drains(String node, int limit) {
    return drains.descendingMap().values().stream()
        .filter(d -> node == null || d.node().equals(node))
        .limit(limit)
        .toList();
  }

  @Override
  public synchronized <T> T books(Function<Books, T> reader) {
    return reader.apply(new MemoryBooks());
  }

  private final class MemoryBooks implements Books {
    @Override
    public List<Stock> stock() {
      return List.copyOf(stock.values());
    }

    @Override
    public List<Account> accounts() {
      return accounts.all();
    }

    @Override
    public List<Attempt> running() {
      return List.copyOf(openAttempts.values());
    }

    @Override
    public void jobs(Consumer<StoredJob> each) {
      jobs.values().stream()
          .filter(
              j -> !j.state().ended() || j.carriedTflopSeconds() != 0 || j.reservation() != null)
          .forEach(each);
    }

    @Override
    public void charges(Consumer<ChargeRow> each) {
      charges.forEach(each);
    }

    @Override
    public void corrections(Consumer<Correction> each) {
      corrections.forEach(each);
    }

    @Override
    public void rows(LedgerFilter filter, Consumer<LedgerRow> each) {
      ledger.stream()
          .filter(filter::means)
          .sorted(
              Comparator.comparing(LedgerRow::node)
                  .thenComparing(LedgerRow::tier)
                  .thenComparing(LedgerRow::from)
                  .thenComparingLong(LedgerRow::id))
          .forEach(each);
    }

    @Override
    public void spans(Consumer<Span> each) {
      spans.stream()
          .sorted(
              Comparator.comparing(Span::node)
                  .thenComparing(Span::tier)
                  .thenComparingLong(Span::id))
          .forEach(each);
    }

    @Override
    public List<ClockStep> clockSteps() {
      return List.copyOf(clockSteps);
    }

    @Override
    public Optional<Attempt> runWithoutRow() {
      Set<List<Object>> written = new HashSet<>();
      for (LedgerRow r : ledger) {
        if (!r.kind().equals(HoldingCost.RESERVED)) {
          written.add(
              List.of(r.job(), r.attempt(), r.node(), r.tier(), r.gpus(), r.from(), r.to()));
        }
      }
      return attempts.values().stream()
          .filter(a -> a.startedAt() != null && a.endedAt() != null)
          .filter(
              a ->
                  a.on().stream()
                      .anyMatch(
                          s ->
                              !written.contains(
                                  List.of(
                                      a.job(),
                                      a.attempt(),
                                      s.node(),
                                      s.tier().name(),
                                      s.gpus(),
                                      a.startedAt(),
                                      a.endedAt().isBefore(a.startedAt())
                                          ? a.startedAt()
                                          : a.endedAt()))))
          .min(Comparator.comparingLong(Attempt::job).thenComparingInt(Attempt::attempt));
    }
  }

  @Override
  public synchronized void forget(Duration olderThan, Instant now) {
    Instant limit = now.minus(olderThan);
    decisions.values().removeIf(d -> d.view().at().isBefore(limit));
    policyTexts
        .keySet()
        .retainAll(decisions.values().stream().map(d -> d.view().policyHash()).toList());
    keys.values().removeIf(k -> k.at().isBefore(limit));
  }
}
