package evenhand.cycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import evenhand.cycle.accounts.AccountBook;
import evenhand.cycle.accounts.AccountChange;
import evenhand.cycle.events.Event;
import evenhand.cycle.events.EventFeed;
import evenhand.cycle.events.EventFilter;
import evenhand.facts.NodeState;
import evenhand.facts.Tier;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.service.JsonRecorder;
import evenhand.simulator.ManualClock;
import evenhand.simulator.SimulatedCluster;
import evenhand.store.Database;
import evenhand.store.PostgresStore;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

/** What happened is written down with what it tells, is found again, and is told in order. */
class EventsTest {
  private static final Instant T0 = Instant.parse("2026-04-10T09:00:00Z");
  private static final Tier H100 = new Tier("h100", 30, 989, 8, true, "gpu", "gpu:h100");
  private static final Policy BUDGET = budget();

  private final ManualClock clock = new ManualClock(T0);
  private final SimulatedCluster cluster = new SimulatedCluster(clock);
  private DataSource source;
  private PostgresStore store;
  private Cycle cycle;
  private FrontDesk desk;
  private Contract contract;

  private static Policy budget() {
    try {
      return Policies.load(Optional.empty(), "budget", Map.of());
    } catch (evenhand.policy.PolicyFault e) {
      throw new IllegalStateException(e);
    }
  }

  @BeforeEach
  void service() {
    source = Database.fresh();
    store = new PostgresStore(source);
    store.setUp(
        List.of(H100), List.of(new AccountSetup("A", null, 1), new AccountSetup("B", null, 1)), T0);
    cluster.node("n1", H100, 4);
    JsonRecorder recorder = new JsonRecorder();
    cycle =
        new Cycle(
            store, cluster, Router.NONE, () -> BUDGET, recorder, clock, CycleSettings.DEFAULT);
    desk = new FrontDesk(store, () -> BUDGET, cycle::latest, CycleSettings.DEFAULT, clock);
    contract = new Contract(store, () -> BUDGET, cycle::latest, clock);
    after(0);
  }

  @AfterEach
  void close() {
    store.close();
  }

  private void after(int seconds) {
    clock.advance(Duration.ofSeconds(seconds));
    CycleReport report = cycle.run();
    assertThat(report.result()).as(report.because()).isEqualTo(CycleReport.Result.DECIDED);
  }

  private String submit(String account, int gpus, int minimum) {
    return desk.submit(
            SomeJob.PLAIN.of(account).on(gpus, null).minimum(minimum).resumable(true).made(), null)
        .id();
  }

  private List<Event> all() {
    return store.events().forward(0, store.events().settled(), EventFilter.ALL, 1000);
  }

  private List<String> kindsOf(String job) {
    return all().stream().filter(e -> job.equals(e.job())).map(e -> e.kind().word()).toList();
  }

  @Test
  void theStoryOfAJobThatMakesRoomForAnother() {
    cluster.leaveTimes(order -> Duration.ofSeconds(3));
    String sweep = submit("B", 4, 0);
    after(5);
    after(5);
    String debug = submit("A", 4, 600);
    after(5);
    for (int i = 0; i < 4; i++) {
      after(5);
    }
    assertThat(kindsOf(sweep))
        .containsExactly(
            "submitted", "dispatched", "started", "preempt_soon", "preempted", "requeued");
    assertThat(kindsOf(debug)).containsExactly("submitted", "dispatched", "started");
    Event soon = one(Event.Kind.PREEMPT_SOON);
    assertThat(soon.account()).isEqualTo("B");
    assertThat(soon.data()).containsEntry("for", debug).containsKey("until");
    assertThat(soon.message()).contains("make room for job " + debug);
    assertThat(one(Event.Kind.PREEMPTED).data()).containsEntry("final", false);
    Event given =
        all().stream()
            .filter(e -> debug.equals(e.job()) && e.kind() == Event.Kind.DISPATCHED)
            .findFirst()
            .orElseThrow();
    assertThat(given.data()).containsEntry("waits_for", List.of(sweep));

    // The same for who asks for it: one job, one account, some kinds, newest first.
    EventFilter ofA = new EventFilter(Set.of(Event.Kind.STARTED), "A", null);
    assertThat(store.events().back(ofA, 10, Long.MAX_VALUE))
        .extracting(Event::job)
        .containsExactly(debug);
    EventFilter ofJob = new EventFilter(Set.of(), null, sweep);
    assertThat(store.events().back(ofJob, 2, Long.MAX_VALUE))
        .extracting(e -> e.kind().word())
        .containsExactly("requeued", "preempted");

    desk.cancel(sweep, "kim");
    assertThat(one(Event.Kind.CANCELLED).message()).contains("kim");
    cluster.end(
        new Token(store.installation(), Long.parseLong(debug), 1),
        SeenJob.State.COMPLETED,
        0,
        null);
    after(5);
    Event end = one(Event.Kind.FINISHED);
    assertThat(end.job()).isEqualTo(debug);
    assertThat(end.data()).containsEntry("state", "COMPLETED").containsEntry("exit_code", 0);
    assertThat(one(Event.Kind.CHARGED).account()).isEqualTo("A");
  }

  private Event one(Event.Kind kind) {
    List<Event> of = all().stream().filter(e -> e.kind() == kind).toList();
    assertThat(of).as(kind.word()).hasSize(1);
    return of.get(0);
  }

  @Test
  void nodesAndWeights() {
    contract.drain("n1", "fan 3", "ann");
    after(5);
    contract.resume("n1", "ann");
    after(5);
    cluster.state("n1", NodeState.DOWN);
    after(5);
    after(5);
    cluster.state("n1", NodeState.UP);
    after(5);
    assertThat(all())
        .extracting(e -> e.kind().word() + " " + e.node())
        .containsExactly(
            "weights_changed null",
            "weights_changed null",
            "node_draining n1",
            "node_drained n1",
            "node_up n1",
            "node_down n1",
            "node_up n1");
    store
        .accounts()
        .change(
            before ->
                new AccountBook.Amendment(
                    List.of(
                        new AccountChange(
                            0,
                            clock.instant(),
                            "A",
                            AccountChange.Kind.WEIGHT,
                            "1.0",
                            "3.0",
                            null,
                            "kim",
                            "their paper is out")),
                    false));
    List<Event> weights =
        all().stream().filter(e -> e.kind() == Event.Kind.WEIGHTS_CHANGED).toList();
    assertThat(weights.get(weights.size() - 1).data())
        .containsEntry("was", 1.0)
        .containsEntry("became", 3.0)
        .containsEntry("by", "kim");
  }

  /** What is undone leaves no word. */
  @Test
  void whatIsRefusedIsNotTold() {
    String id = submit("A", 1, 600);
    Store.JobRecord read = store.job(Long.parseLong(id)).orElseThrow();
    desk.cancel(id, "kim");
    Changes late = Changes.ofDesk(clock.instant());
    late.put(read.job().over(JobState.CANCELLED, "cancelled by lee", clock.instant(), null));
    assertThatThrownBy(() -> store.commit(late)).isInstanceOf(Overtaken.class);
    assertThat(kindsOf(id)).containsExactly("submitted", "cancelled");
  }

  private static long insert(Statement sql) throws Exception {
    sql.execute("select pg_current_xact_id()");
    try (var rs =
        sql.executeQuery(
            "insert into events (at, kind, message) values (now(), 'charged', 'x') returning id")) {
      rs.next();
      return rs.getLong(1);
    }
  }

  @Test
  void nobodyPassesOverAnEventThatIsCommittedLate() throws Exception {
    submit("A", 1, 600);
    EventFeed feed = new EventFeed(store.events());
    long before = feed.look();
    try (Connection early = source.getConnection();
        Connection late = source.getConnection();
        Connection undone = source.getConnection()) {
      early.setAutoCommit(false);
      late.setAutoCommit(false);
      undone.setAutoCommit(false);
      long first = insert(early.createStatement());
      long gap = insert(undone.createStatement());
      long last = insert(late.createStatement());
      assertThat(first).isLessThan(gap);
      assertThat(gap).isLessThan(last);
      late.commit();
      // The last is there, the first is not: nobody is told the last before it.
      assertThat(store.events().forward(before, Long.MAX_VALUE, EventFilter.ALL, 10))
          .extracting(Event::id)
          .containsExactly(last);
      for (int i = 0; i < 3; i++) {
        assertThat(feed.look()).isEqualTo(before);
      }
      assertThat(feed.after(before, EventFilter.ALL, 10).events()).isEmpty();
      undone.rollback();
      early.commit();
      // What was undone never comes, and nobody waits for it for ever.
      long settled = before;
      for (int i = 0; i < 50 && settled < last; i++) {
        settled = feed.look();
      }
      assertThat(settled).isEqualTo(last);
      assertThat(feed.after(before, EventFilter.ALL, 10).events())
          .extracting(Event::id)
          .containsExactly(first, last);
      assertThat(new EventFeed(store.events()).look()).isEqualTo(last);
    }
  }

  @Test
  void eventsOnlyGrowAndAreForgottenWithTime() {
    submit("A", 1, 600);
    JdbcClient sql = JdbcClient.create(source);
    assertThatThrownBy(() -> sql.sql("update events set message = 'y'").update())
        .hasMessageContaining("only grow");
    int were = all().size();
    clock.advance(Duration.ofDays(2));
    String later = submit("A", 1, 600);
    assertThat(all()).hasSize(were + 1);
    store.forget(Duration.ofDays(1), clock.instant());
    assertThat(all()).extracting(Event::job).containsExactly(later);
  }

  @Test
  void decisionsAreFoundByWhatTheySay() {
    String big = submit("A", 4, 600);
    after(5);
    String waits = submit("B", 4, 600);
    after(5);
    after(600);
    Instant then = clock.instant();
    List<DecisionFound> started = found(new DecisionFilter(null, null, "D1", null, null));
    assertThat(started).hasSize(1);
    assertThat(started.get(0).said())
        .filteredOn(s -> s.clause().equals("D1"))
        .extracting(DecisionFound.Said::of)
        .containsExactly(List.of(big));
    assertThat(found(new DecisionFilter(null, "B", null, null, null)))
        .isNotEmpty()
        .allSatisfy(
            d ->
                assertThat(
                        d.said().stream().flatMap(s -> s.of().stream()).collect(Collectors.toSet()))
                    .contains(waits));
    assertThat(found(new DecisionFilter(null, "B", "D1", null, null))).isEmpty();
    assertThat(found(new DecisionFilter(Long.valueOf(big), null, "D1", null, null))).hasSize(1);
    assertThat(found(new DecisionFilter(null, null, null, then.plusSeconds(1), null))).isEmpty();
    assertThat(found(new DecisionFilter(null, null, "D1", T0, then))).hasSize(1);
    assertThat(desk.findDecisions(new DecisionFilter(null, null, null, null, null), 1, null).next())
        .isNotNull();
  }

  private List<DecisionFound> found(DecisionFilter filter) {
    return store.findDecisions(filter, 100, Long.MAX_VALUE);
  }

  @Test
  void theWholeClusterInOneAnswer() {
    String runs = submit("A", 3, 600);
    after(5);
    after(5);
    submit("B", 2, 600);
    after(5);
    ClusterNow now = contract.standing();
    assertThat(now.holders()).extracting(ClusterNow.Holder::job).containsExactly(runs);
    assertThat(now.holders().get(0).protectedUntil())
        .isEqualTo(now.holders().get(0).startedAt().plusSeconds(600));
    assertThat(now.queued()).isEqualTo(1);
    assertThat(now.queuedGpus()).isEqualTo(2);
    assertThat(now.nodes()).hasSize(1);
    assertThat(now.nodes().get(0).gpus().get(0).allocated()).isEqualTo(3);
  }

  @Test
  void theQueueIsSearched() {
    after(5);
    for (int i = 0; i < 30; i++) {
      submit(i % 10 == 3 ? "B" : "A", 4, 600);
    }
    after(5);
    Desk.Page<Desk.QueueLine> whole = desk.queue(1000, null);
    List<Integer> places =
        whole.items().stream().filter(q -> q.id().contains("2")).map(q -> q.position()).toList();
    Desk.Page<Desk.QueueLine> first = desk.queue("2", 2, null);
    assertThat(first.items()).allMatch(q -> q.id().contains("2")).hasSize(2);
    Desk.Page<Desk.QueueLine> rest = desk.queue("2", 100, first.next());
    assertThat(
            java.util.stream.Stream.concat(first.items().stream(), rest.items().stream())
                .map(Desk.QueueLine::position))
        .containsExactlyElementsOf(places);
    assertThat(desk.queue("KIM", 1000, null).items()).hasSize(29);
    assertThat(desk.queue("nobody", 10, null).items()).isEmpty();
    Desk.Page<Desk.QueueLine> part = desk.queue(10, null);
    assertThat(part.items()).hasSize(10);
    assertThat(desk.queue(10, part.next()).items().get(0).position()).isEqualTo(11);
  }
}
