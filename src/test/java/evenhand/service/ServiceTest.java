package evenhand.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import evenhand.cli.Commands;
import evenhand.cli.Console;
import evenhand.cli.Parts;
import evenhand.cli.SimulateCommand;
import evenhand.cycle.Desk;
import evenhand.cycle.JobState;
import evenhand.cycle.Ledger;
import evenhand.cycle.NewJob;
import evenhand.cycle.Receipts;
import evenhand.cycle.SomeJob;
import evenhand.cycle.accounts.AccountDesk;
import evenhand.cycle.accounts.TreePlan;
import evenhand.policy.Policies;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

/** The whole service on a real Tomcat and a PostgreSQL of its own, with the real rules. */
class ServiceTest {
  @TempDir Path folder;

  private ConfigurableApplicationContext start(String... more) {
    return startOn(0, more);
  }

  private ConfigurableApplicationContext startOn(int port, String... more) {
    String[] arguments = new String[more.length + 3];
    arguments[0] = "--server.port=" + port;
    arguments[1] = "--evenhand.data-dir=" + folder.resolve("data");
    arguments[2] = "--evenhand.cycle.interval=200ms";
    System.arraycopy(more, 0, arguments, 3, more.length);
    return Service.start(arguments);
  }

  private static NewJob job(int gpus, String script) {
    return SomeJob.PLAIN.named("mine").of("KDG").on(gpus, null).resumable(true).runs(script).made();
  }

  private static Desk.JobView await(Desk desk, String id, JobState state)
      throws InterruptedException {
    for (int i = 0; i < 300 && desk.job(id).state() != state; i++) {
      Thread.sleep(50);
    }
    assertThat(desk.job(id).state()).as(desk.job(id).stateReason()).isEqualTo(state);
    return desk.job(id);
  }

  private static String health(ConfigurableApplicationContext context) throws Exception {
    int port = ((WebServerApplicationContext) context).getWebServer().getPort();
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/actuator/health"))
                .build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }

  @Test
  void theDemonstrationRunsAndWhatItDidIsThereAfterARestart() throws Exception {
    String done;
    try (ConfigurableApplicationContext context = start()) {
      Desk desk = context.getBean(Desk.class);
      assertThatThrownBy(() -> desk.submit(job(1, "#!/bin/sh\n#SBATCH --gpus=2\n"), null))
          .isInstanceOfSatisfying(
              Desk.Refused.class, no -> assertThat(no.field()).isEqualTo("script"))
          .hasMessageContaining("line 2 of the script")
          .hasMessageContaining("num_gpus");
      done = desk.submit(job(1, "#!/bin/sh\nsleep 1\n"), null).id();
      Desk.JobView ended = await(desk, done, JobState.COMPLETED);
      assertThat(ended.chargedTflopSeconds()).isGreaterThan(0);
      assertThat(desk.why(done).message()).contains("COMPLETED");
      String decision = desk.decisions(done, 10, null).items().get(0).id();
      assertThat(desk.decision(decision).json()).contains("\"start\"");
      assertThat(desk.why(done).decision()).isEqualTo(decision);
      assertThat(context.getBean(Receipts.class).verify(decision).message()).isNull();
      assertThat(context.getBean(Ledger.class).verify().difference()).isNull();
      assertThat(health(context))
          .contains("\"cycle\"", "readingAgeSeconds", "DECIDED")
          .doesNotContain("DOWN");
      assertThat(
              context
                  .getBean(JdbcClient.class)
                  .sql(
                      "select string_agg(setting, ',') from pg_settings where name in ('fsync',"
                          + " 'synchronous_commit', 'full_page_writes')")
                  .query(String.class)
                  .single())
          .isEqualTo("on,on,on");
      assertThatThrownBy(this::start).hasMessageContaining("another evenhand runs");
      itsHistoryIsAJobSet(context, done);
      // Whoever may read its folder makes the first admin's token while it runs.
      assertThat(
              new SiteAtHand(Clock.systemUTC())
                  .adminToken(
                      List.of("--evenhand.data-dir=" + folder.resolve("data")),
                      "root",
                      Duration.ofDays(1),
                      "kim")
                  .text())
          .startsWith("evh_");
    }
    Path pid = folder.resolve("data/database/postmaster.pid");
    assertThat(pid).doesNotExist();
    // As a killed service leaves it, its number in use by somebody else since.
    Files.writeString(pid, ProcessHandle.current().pid() + "\n/nowhere\n");
    try (ConfigurableApplicationContext context = start("--evenhand.cycle.enabled=false")) {
      Desk desk = context.getBean(Desk.class);
      assertThat(desk.job(done).state()).isEqualTo(JobState.COMPLETED);
      String waits = desk.submit(job(1, "#!/bin/sh\nsleep 60\n"), null).id();
      Thread.sleep(600);
      assertThat(desk.job(waits).state()).isEqualTo(JobState.GLOBAL_QUEUE_WAIT);
      assertThat(health(context)).contains("paused");
      context.getBean(CycleTimer.class).run();
      assertThat(desk.job(waits).state()).isEqualTo(JobState.DISPATCHING);
    }
  }

  /** What the service has seen is simulated, with the weights as they were. */
  private void itsHistoryIsAJobSet(ConfigurableApplicationContext context, String done)
      throws Exception {
    Desk desk = context.getBean(Desk.class);
    AccountDesk accounts = context.getBean(AccountDesk.class);
    List<TreePlan.Wanted> heavier =
        accounts.accounts(false).stream()
            .map(
                a ->
                    new TreePlan.Wanted(
                        a.id(), a.parent(), a.id().equals("KDG") ? 5 : 1, List.of(), List.of()))
            .toList();
    accounts.apply(heavier, null, "ada", "a trial");
    String later = desk.submit(job(1, "#!/bin/sh\nsleep 1\n"), null).id();
    await(desk, later, JobState.COMPLETED);
    int port = ((WebServerApplicationContext) context).getWebServer().getPort();
    String[] call = {
      "--server", "http://127.0.0.1:" + port, "--policy", "fifo", "--out", folder + "/simulated"
    };
    ByteArrayOutputStream told = new ByteArrayOutputStream();
    assertThat(simulate(told, call)).isEqualTo(2);
    assertThat(told.toString(StandardCharsets.UTF_8)).contains("3080ti, 4090, 5090", "--cluster");
    Path cluster =
        Files.writeString(
            folder.resolve("cluster.yaml"),
            "tiers: {3080ti: {sort_order: 10}, \"4090\": {sort_order: 20}, \"5090\": {sort_order: 30}}\n"
                + "nodes: {n1: {3080ti: 8, \"4090\": 8, \"5090\": 8}}\n");
    String[] with = java.util.Arrays.copyOf(call, call.length + 2);
    with[call.length] = "--cluster";
    with[call.length + 1] = cluster.toString();
    assertThat(simulate(told, with)).as(told.toString(StandardCharsets.UTF_8)).isZero();
    Path results = folder.resolve("simulated/fifo");
    assertThat(Files.readString(results.resolve("jobs.csv")))
        .contains("\n" + done + ",KDG,kim,", "\n" + later + ",KDG,kim,");
    assertThat(Files.readString(results.resolve("events.csv")))
        .containsPattern("[0-9.]+,weight,,KDG,,0,A2,5.0\n");
    assertThat(folder.resolve("simulated/report.html")).isNotEmptyFile();
  }

  private static int simulate(ByteArrayOutputStream told, String... options) {
    PrintStream to = new PrintStream(told, true, StandardCharsets.UTF_8);
    Console console = new Console(new ByteArrayInputStream(new byte[0]), to, to, Map.of());
    Parts parts = new Parts(Policies::load, settings -> 0, (kind, in, out) -> 0, Map.of());
    Commands commands = new Commands(console, parts);
    commands.add(
        "simulate",
        new SimulateCommand(
            console,
            Policies::load,
            text -> {
              throw new AssertionError("nobody reads accounting here");
            }));
    String[] call = new String[options.length + 2];
    call[0] = "simulate";
    call[1] = "--from-db";
    System.arraycopy(options, 0, call, 2, options.length);
    return commands.run(call);
  }

  private static StartFault fault(ThrowingCallable start) {
    StartFault fault = catchThrowableOfType(StartFault.class, start);
    assertThat(fault).isNotNull();
    assertThat(fault.getMessage()).doesNotContain("Exception", "springframework", "java.");
    return fault;
  }

  @Test
  void whatIsSetWrongIsToldBeforeAnythingIsStarted() throws Exception {
    assertThat(fault(() -> start("--evenhand.cluster=pbs")).where())
        .isEqualTo(StartFault.Where.SETTINGS);
    StartFault missing = fault(() -> start("--spring.config.additional-location=nowhere.yaml"));
    assertThat(missing.where()).isEqualTo(StartFault.Where.SETTINGS);
    assertThat(missing).hasMessageContaining("no settings file nowhere.yaml");
    Path site = Files.writeString(folder.resolve("site.yaml"), "evenhand:\n  policy: [\n");
    StartFault broken = fault(() -> start("--spring.config.additional-location=" + site));
    assertThat(broken.where()).isEqualTo(StartFault.Where.SETTINGS);
    assertThat(broken).hasMessageContaining("site.yaml, line 3, is not YAML");
    assertThat(folder.resolve("data")).doesNotExist();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  @Test
  void whatFailsOutsideIsToldInASentence() throws Exception {
    String nobody;
    try (ServerSocket socket = new ServerSocket(0)) {
      nobody = "jdbc:postgresql://127.0.0.1:" + socket.getLocalPort() + "/evenhand?user=x";
    }
    StartFault away = fault(() -> start("--spring.datasource.url=" + nobody));
    assertThat(away.where()).as(away.getMessage()).isEqualTo(StartFault.Where.OUTSIDE);
    assertThat(away).hasMessageContaining("refused").hasMessageContaining("/evenhand cannot");
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      StartFault taken = fault(() -> startOn(socket.getLocalPort()));
      assertThat(taken.where()).as(taken.getMessage()).isEqualTo(StartFault.Where.OUTSIDE);
      assertThat(taken).hasMessageContaining("Port " + socket.getLocalPort() + " of 127.0.0.1");
      assertThat(folder.resolve("data")).doesNotExist();
    }
    StartFault elsewhere =
        fault(() -> startOn(freePort(), "--server.address=192.0.2.1")); // kept for examples
    assertThat(elsewhere.where()).isEqualTo(StartFault.Where.SETTINGS);
    assertThat(elsewhere).hasMessageContaining("192.0.2.1");
  }
}
