package evenhand.service;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.cycle.CycleReport;
import evenhand.cycle.Desk;
import evenhand.cycle.JobState;
import evenhand.cycle.NewJob;
import evenhand.cycle.SomeJob;
import evenhand.store.Database;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * The metrics are there and say what happened, alerts and dashboard use no others, and the health
 * says when nothing is decided any more.
 */
class WatchingTest {
  private static final Pattern METRIC = Pattern.compile("\\bevenhand_[a-z_]+");

  /** They count what does not happen in an hour of every cluster. */
  private static final Set<String> RARE =
      Set.of(
          "evenhand_preemptions_total",
          "evenhand_preemptions_lost_gpu_seconds_total",
          "evenhand_router_messages_total",
          "evenhand_webhook_events_total");

  private static String metrics(ConfigurableApplicationContext context) throws Exception {
    HttpResponse<String> answer = get(context, "/actuator/prometheus");
    assertThat(answer.statusCode()).isEqualTo(200);
    return answer.body();
  }

  private static HttpResponse<String> get(ConfigurableApplicationContext context, String path)
      throws Exception {
    int port = ((WebServerApplicationContext) context).getWebServer().getPort();
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
            HttpResponse.BodyHandlers.ofString());
  }

  /** As when something changes every job under each cycle: the store refuses what it decides. */
  private static void aStoreThatRefusesTurnsTheHealthDown(ConfigurableApplicationContext context)
      throws Exception {
    JdbcClient sql = context.getBean(JdbcClient.class);
    sql.sql("create function refuse() returns trigger language plpgsql as 'begin return null; end'")
        .update();
    sql.sql("create trigger refuse before update on jobs for each row execute function refuse()")
        .update();
    CycleTimer timer = context.getBean(CycleTimer.class);
    context.getBean(Desk.class).submit(job("BCG", 1), null);
    for (int i = 0; i < 4; i++) {
      assertThat(timer.run().result()).isEqualTo(CycleReport.Result.OVERTAKEN);
    }
    assertThat(get(context, "/actuator/health").statusCode()).isEqualTo(200);
    timer.run();
    HttpResponse<String> down = get(context, "/actuator/health");
    assertThat(down.statusCode()).isEqualTo(503);
    assertThat(down.body()).contains("5 cycles in a row were refused by the store");
    assertThat(value(metrics(context), "evenhand_cycle_undecided")).isEqualTo(5);
    sql.sql("drop trigger refuse on jobs").update();
    timer.run();
    assertThat(get(context, "/actuator/health").statusCode()).isEqualTo(200);
  }

  private static void aReservationOfAJobThatIsCancelledEndsByR4(
      ConfigurableApplicationContext context) throws Exception {
    Desk desk = context.getBean(Desk.class);
    CycleTimer timer = context.getBean(CycleTimer.class);
    desk.submit(job("BCG", 1), null);
    timer.run();
    String waits = desk.submit(job("KDG", 4), null).id();
    timer.run();
    timer.run();
    String metrics = metrics(context);
    assertThat(value(metrics, "evenhand_reservations{account=\"KDG\"}")).as(metrics).isEqualTo(1);
    assertThat(lasted(metrics, "R4")).isZero();
    desk.cancel(waits, "kim");
    timer.run();
    timer.run();
    assertThat(lasted(metrics(context), "R4")).isEqualTo(1);
  }

  private static void whoStandsByTellsNothingThatTheOtherTells(
      ConfigurableApplicationContext context) throws Exception {
    List<String> figures = List.of("evenhand_gpus{", "evenhand_nodes{", "evenhand_queue_jobs{");
    assertThat(metrics(context)).contains(figures);
    context
        .getBean(CycleMeters.class)
        .ran(
            new CycleReport(
                Instant.now(),
                CycleReport.Result.STANDBY,
                "another process decides",
                null,
                null,
                null,
                null,
                null,
                List.of(),
                0,
                List.of(),
                0,
                0,
                0),
            0);
    assertThat(metrics(context)).doesNotContain(figures.toArray(String[]::new));
    assertThat(value(metrics(context), "evenhand_leader")).isZero();
  }

  private static double lasted(String metrics, String end) {
    return value(metrics, "evenhand_reservations_lasted_seconds_count{end=\"" + end + "\"}");
  }

  private static double value(String metrics, String line) {
    return metrics
        .lines()
        .filter(l -> l.startsWith(line + " "))
        .mapToDouble(l -> Double.parseDouble(l.substring(line.length() + 1)))
        .findFirst()
        .orElse(Double.NaN);
  }

  private static NewJob job(String account, int gpus) {
    return SomeJob.PLAIN
        .of(account)
        .on(gpus, null)
        .resumable(true)
        .runs("#!/bin/sh\nsleep 60\n")
        .made();
  }

  private static Set<String> used(String text) {
    Set<String> used = new TreeSet<>();
    Matcher m = METRIC.matcher(text);
    while (m.find()) {
      used.add(m.group());
    }
    return used;
  }

  private static List<String> expressions(JsonNode node) {
    List<String> found = new ArrayList<>();
    if (node.isObject() && node.path("expr").isString()) {
      found.add(node.path("expr").asString());
    }
    node.forEach(child -> found.addAll(expressions(child)));
    return found;
  }

  @Test
  void alertsAndDashboardUseMetricsThatThereAre() throws Exception {
    String metrics;
    Set<String> there = new TreeSet<>(RARE);
    try (ConfigurableApplicationContext context = service()) {
      Desk desk = context.getBean(Desk.class);
      CycleTimer timer = context.getBean(CycleTimer.class);
      // What alerts wait for rises from 0: the rise of a counter that was not there is none.
      metrics = metrics(context);
      assertThat(value(metrics, "evenhand_cycle_seconds_count{result=\"rule_failed\"}")).isZero();
      assertThat(value(metrics, "evenhand_cycle_failures_total")).isZero();
      timer.run();
      String first = desk.submit(job("BCG", 3), null).id();
      timer.run();
      timer.run();
      // It holds what is idle until the one that runs is cancelled, and starts then.
      String second = desk.submit(job("KDG", 2), null).id();
      timer.run();
      timer.run();
      metrics = metrics(context);
      there.addAll(used(metrics));
      assertThat(value(metrics, "evenhand_queue_jobs{account=\"KDG\",code=\"GATHERING\"}"))
          .as(metrics)
          .isEqualTo(1);
      assertThat(value(metrics, "evenhand_reservations{account=\"KDG\"}")).isEqualTo(1);
      assertThat(value(metrics, "evenhand_gpus{tier=\"4090\",use=\"reserved\"}")).isEqualTo(1);
      assertThat(value(metrics, "evenhand_gpus{tier=\"4090\",use=\"idle\"}")).isZero();
      assertThat(value(metrics, "evenhand_jobs_started_total{account=\"BCG\"}")).isEqualTo(1);
      desk.cancel(first, "kim");
      for (int i = 0; i < 5 && desk.job(second).state() == JobState.GLOBAL_QUEUE_WAIT; i++) {
        timer.run();
      }
      timer.run();
      metrics = metrics(context);
      assertThat(lasted(metrics, "W1"))
          .as("it starts on more than it held " + metrics)
          .isEqualTo(1);
      assertThat(lasted(metrics, "started")).as("one reservation ends once").isZero();
      assertThat(value(metrics, "evenhand_reservations{account=\"KDG\"}"))
          .as("what has gone is 0, not left out")
          .isZero();
      aReservationOfAJobThatIsCancelledEndsByR4(context);
      metrics = metrics(context);
      assertThat(value(metrics, "evenhand_jobs_ended_total{account=\"BCG\",state=\"CANCELLED\"}"))
          .isEqualTo(1);
      assertThat(value(metrics, "evenhand_nodes{state=\"up\"}")).isEqualTo(1);
      assertThat(value(metrics, "evenhand_leader")).isEqualTo(1);
      assertThat(value(metrics, "evenhand_cycle_undecided")).isZero();
      assertThat(metrics).contains("evenhand_policy_info{hash=\"sha256:");
      assertThat(metrics)
          .as("jobs and users are no tags")
          .doesNotContain("job=\"", "user=\"", "kim");
      aStoreThatRefusesTurnsTheHealthDown(context);
      whoStandsByTellsNothingThatTheOtherTells(context);
    }
    there.addAll(used(metrics));
    String alerts = text("ops/alerts.yaml");
    JsonNode rules = new YAMLMapper().readTree(alerts).path("groups").path(0).path("rules");
    assertThat(rules.size()).isGreaterThan(8);
    for (JsonNode rule : rules) {
      assertThat(used(rule.path("expr").asString()))
          .as(rule.path("alert").asString())
          .isSubsetOf(there);
      assertThat(rule.path("annotations").path("summary").asString()).endsWith(".");
    }
    List<String> panels = expressions(new JsonMapper().readTree(text("ops/dashboard.json")));
    assertThat(panels).hasSizeGreaterThan(22);
    panels.forEach(e -> assertThat(used(e)).as(e).isNotEmpty().isSubsetOf(there));
  }

  private static String text(String name) throws Exception {
    return new String(new ClassPathResource(name).getContentAsByteArray());
  }

  private static ConfigurableApplicationContext service() {
    PGSimpleDataSource source = Database.ofAService();
    return Service.start(
        OneNode.settings(
                4,
                source,
                "--server.port=0",
                "--evenhand.check-scenarios=false",
                "--evenhand.cycle.enabled=false",
                "--evenhand.accounts[0].id=BCG",
                "--evenhand.accounts[1].id=KDG",
                "--evenhand.cycle.lookback=7d")
            .toArray(String[]::new));
  }
}
