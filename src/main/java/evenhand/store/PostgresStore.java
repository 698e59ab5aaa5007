package evenhand.store;

import evenhand.cycle.AccountSetup;
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
import evenhand.cycle.RuleHistory;
import evenhand.cycle.StartEstimates;
import evenhand.cycle.Stock;
import evenhand.cycle.Store;
import evenhand.cycle.StoredJob;
import evenhand.cycle.SubmitOrder;
import evenhand.cycle.Token;
import evenhand.cycle.World;
import evenhand.cycle.accounts.AccountBook;
import evenhand.cycle.accounts.InUse;
import evenhand.cycle.events.EventLog;
import evenhand.facts.Tier;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.springframework.dao.ConcurrencyFailureException;

/**
 * The store on PostgreSQL, its tables made by the migrations beside it; each kind of row has a
 * class.
 */
public final class PostgresStore implements Store, AutoCloseable {
  private final PostgresDatabase db;
  private final Lead lead;
  private final PostgresEvents events;
  private final DecisionSearch search;
  private final PostgresRuleHistory rules;
  private final PostgresStartEstimates estimates;
  private final PostgresAccounts tree;
  private final PostgresInventory inventory;
  private final PostgresJobs jobs;
  private final PostgresClaims claims;
  private final PostgresLedger ledger;
  private final PostgresOutbox outbox;
  private final PostgresDecisions decisions;
  private final String installation;
  private volatile PostgresDecisions.Kept base;

  /**
   * @param source a database that the migrations have been applied to
   */
  public PostgresStore(DataSource source) {
    this(source, Duration.ofSeconds(5));
  }

  /**
   * @param source a database that the migrations have been applied to
   * @param lease after so long without a sign of life the right to decide goes to another process
   */
  public PostgresStore(DataSource source, Duration lease) {
    this.db = PostgresDatabase.of(source);
    // What another process recorded meanwhile is not known here.
    this.lead = new Lead(source, lease, () -> base = null);
    this.events = new PostgresEvents(db);
    this.search = new DecisionSearch(db);
    this.rules = new PostgresRuleHistory(db);
    this.estimates = new PostgresStartEstimates(db);
    this.tree = new PostgresAccounts(db, events);
    this.installation = db.sql().sql("select installation from meta").query(String.class).single();
    this.inventory = new PostgresInventory(db, events);
    this.jobs = new PostgresJobs(db, inventory);
    this.claims = new PostgresClaims(db);
    this.ledger = new PostgresLedger(db, inventory, jobs, tree);
    this.outbox = new PostgresOutbox(db, installation);
    this.decisions = new PostgresDecisions(db);
  }

  @Override
  public String installation() {
    return installation;
  }

  @Override
  public boolean lead() {
    return lead.lead();
  }

  /** Gives the right to decide back. */
  @Override
  public void close() {
    lead.close();
  }

  @Override
  public void setUp(List<Tier> tiers, List<AccountSetup> accounts, Instant now) {
    db.writing()
        .executeWithoutResult(
            tx -> {
              inventory.setUp(tiers);
              tree.setUp(accounts, now);
            });
  }

  @Override
  public AccountBook accounts() {
    return tree;
  }

  /** What happened: written with each change, read by whoever follows it. */
  public EventLog events() {
    return events;
  }

  /** How often rules decided, and the texts of policies that did. */
  public RuleHistory ruleHistory() {
    return rules;
  }

  /** What was told about starts. */
  public StartEstimates startEstimates() {
    return estimates;
  }

  @Override
  public boolean see(List<Stock> seen, List<Outside> outside, Instant at) {
    return inventory.see(seen, outside, at);
  }

  @Override
  public World load(Instant window) {
    return db.reading()
        .execute(
            tx -> {
              Map<UUID, Tier> tiers = inventory.tiers();
              List<StoredJob> waiting = jobs.notEnded(tiers);
              InUse accounts =
                  tree.inUse(
                      waiting.stream().map(j -> j.asks().account()).collect(Collectors.toSet()),
                      window);
              return new World(
                  inventory.configured(),
                  inventory.stock(tiers),
                  accounts.accounts(),
                  waiting,
                  jobs.open(tiers),
                  accounts.used(),
                  inventory.openDrains(),
                  claims.claim(tiers));
            });
  }

  @Override
  public World inventory() {
    return db.reading()
        .execute(
            tx ->
                new World(
                    inventory.configured(),
                    inventory.stock(inventory.tiers()),
                    tree.inUse(Set.of(), null).accounts(),
                    List.of(),
                    List.of(),
                    Map.of(),
                    inventory.openDrains(),
                    null));
  }

  @Override
  public String commit(Changes changes) {
    PostgresDecisions.Kept[] kept = {base};
    try {
      String id =
          db.writing()
              .execute(
                  tx -> {
                    if (changes.needsLead()) {
                      // Shared, so that whoever takes the lead meanwhile waits for this to be
                      // written.
                      long current =
                          db.sql()
                              .sql("select leader_epoch from meta for share")
                              .query(Long.class)
                              .single();
                      if (current != lead.epoch()) {
                        throw new Overtaken("another process decides now");
                      }
                    }
                    events.write(changes);
                    jobs.writeJobs(changes);
                    jobs.writeAttempts(changes);
                    ledger.write(changes);
                    outbox.write(changes);
                    changes.drains().forEach(inventory::write);
                    claims.write(changes);
                    rules.count(changes);
                    estimates.started(changes);
                    return changes.decision() == null ? null : write(changes.decision(), kept);
                  });
      base = kept[0];
      return id;
    } catch (ConcurrencyFailureException e) {
      throw new Overtaken("two transactions were in each other's way: " + e.getMessage());
    }
  }

  private String write(Changes.DecisionRecord record, PostgresDecisions.Kept[] kept) {
    String id = decisions.write(record, kept);
    search.write(Long.parseLong(id), record);
    return id;
  }

  @Override
  public List<NodeDrain> drains(String node, int limit) {
    return inventory.drains(node, limit);
  }

  @Override
  public List<Order> due(Instant now, int limit) {
    return outbox.due(now, limit);
  }

  @Override
  public Backlog backlog() {
    return outbox.backlog();
  }

  @Override
  public Optional<Order> open(Order.Kind kind, Token token) {
    return outbox.open(kind, token);
  }

  @Override
  public SubmitOrder submitOrder(Token token) {
    return jobs.submitOrder(token);
  }

  @Override
  public Added add(NewJob job, int minimumTierSortOrder, String remark, Key key, Instant now) {
    return db.writing()
        .execute(
            tx -> {
              Added added = jobs.add(job, minimumTierSortOrder, remark, key, now);
              if (added.isNew()) {
                events.submitted(added);
              }
              return added;
            });
  }

  @Override
  public Optional<Added> added(Key key) {
    return jobs.added(key);
  }

  @Override
  public Optional<JobRecord> job(long id) {
    return jobs.job(id);
  }

  @Override
  public List<JobRecord> jobs(JobState state, String account, String user, int limit, long before) {
    return jobs.jobs(state, account, user, limit, before);
  }

  @Override
  public List<Desk.DecisionView> decisions(Long job, int limit, long before) {
    return decisions.decisions(job, limit, before);
  }

  @Override
  public List<DecisionFound> findDecisions(DecisionFilter filter, int limit, long before) {
    return search.find(filter, limit, before);
  }

  @Override
  public Optional<Desk.DecisionView> decision(long id) {
    return decisions.decision(id);
  }

  @Override
  public Map<Long, Desk.DecisionView> lastSaid(List<Long> jobs) {
    return decisions.lastSaid(jobs);
  }

  @Override
  public Optional<String> snapshot(long decision) {
    return decisions.snapshot(decision);
  }

  @Override
  public Optional<Receipt> receipt(long decision) {
    return decisions.receipt(decision);
  }

  @Override
  public List<LedgerRow> ledger(LedgerFilter filter, int limit, long before) {
    return ledger.ledger(filter, limit, before);
  }

  @Override
  public <T> T books(Function<Books, T> reader) {
    return ledger.books(reader);
  }

  @Override
  public Optional<Books.Correction> correct(Books.Correction correction) {
    return ledger.correct(correction);
  }

  @Override
  public void forget(Duration olderThan, Instant now) {
    OffsetDateTime limit = Rows.time(now.minus(olderThan));
    db.writing()
        .executeWithoutResult(
            tx -> {
              decisions.forget(limit);
              jobs.forgetKeys(limit);
              outbox.forget(limit);
              events.forget(now.minus(olderThan));
              rules.forget(limit);
              estimates.forget(limit);
            });
  }
}
