package evenhand.api;

import evenhand.cycle.AccountSetup;
import evenhand.cycle.Contract;
import evenhand.cycle.Cycle;
import evenhand.cycle.CycleSettings;
import evenhand.cycle.JobOutputs;
import evenhand.cycle.Ledger;
import evenhand.cycle.PastPolicies;
import evenhand.cycle.Receipts;
import evenhand.cycle.Recorder;
import evenhand.cycle.Stock;
import evenhand.cycle.accounts.AccountDesk;
import evenhand.cycle.events.EventFeed;
import evenhand.facts.NodeState;
import evenhand.facts.Tier;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.simulator.ManualClock;
import evenhand.simulator.MemoryStore;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** The API on a real Tomcat on loopback, over a desk in memory. One for all tests of a JVM. */
public final class ApiServer {
  private static final ApiServer ONE = new ApiServer();

  private final ConfigurableApplicationContext context;
  private final HttpClient client = HttpClient.newHttpClient();

  private ApiServer() {
    SpringApplication application = new SpringApplication(App.class);
    application.setRegisterShutdownHook(false);
    context =
        application.run(
            "--server.port=0",
            "--server.address=127.0.0.1",
            "--spring.main.banner-mode=off",
            "--logging.level.root=warn",
            "--evenhand.api.max-body=2MB");
  }

  public static ApiServer one() {
    return ONE;
  }

  public String url() {
    return "http://127.0.0.1:" + ((WebServerApplicationContext) context).getWebServer().getPort();
  }

  int port() {
    return ((WebServerApplicationContext) context).getWebServer().getPort();
  }

  public FakeDesk desk() {
    return context.getBean(FakeDesk.class);
  }

  HttpResponse<String> get(String path, String... headers) throws Exception {
    return send("GET", path, HttpRequest.BodyPublishers.noBody(), headers);
  }

  HttpResponse<String> post(String path, String json, String... headers) throws Exception {
    String[] all = java.util.Arrays.copyOf(headers, headers.length + 2);
    all[headers.length] = "Content-Type";
    all[headers.length + 1] = "application/json";
    return send("POST", path, HttpRequest.BodyPublishers.ofString(json), all);
  }

  HttpResponse<String> send(
      String method, String path, HttpRequest.BodyPublisher body, String... headers)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url() + path)).method(method, body);
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  @Configuration
  @EnableAutoConfiguration(
      excludeName = {
        "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
        "org.springframework.boot.flyway.autoconfigure.FlywayAutoConfiguration"
      })
  @Import(Api.class)
  static class App {
    @Bean
    FakeDesk desk() {
      return new FakeDesk();
    }

    @Bean
    MemoryStore store() {
      MemoryStore store = new MemoryStore();
      Tier tier = new Tier("4090", 20, 82.6, 8, true, null, "gpu:4090");
      store.setUp(
          List.of(tier),
          List.of(new AccountSetup("BCG", null, 1), new AccountSetup("연구실", "BCG", 2)),
          FakeDesk.AT);
      store.see(List.of(new Stock("n1", tier, 2, NodeState.UP, null)), FakeDesk.AT);
      return store;
    }

    @Bean
    Access access() {
      return Access.open(new ManualClock(FakeDesk.AT));
    }

    @Bean
    Ledger ledger(MemoryStore store) {
      return new Ledger(
          store, CycleSettings.DEFAULT, new ManualClock(FakeDesk.AT.plusSeconds(3600)));
    }

    @Bean
    Contract contract(MemoryStore store) {
      return new Contract(
          store,
          () -> {
            throw new IllegalStateException("nothing is draining here that runs work");
          },
          () -> new Cycle.Latest(null, null, null, null, java.util.Map.of()),
          new ManualClock(FakeDesk.AT));
    }

    @Bean
    AccountDesk accountDesk(MemoryStore store) throws PolicyFault {
      Policy policy = Policies.load(Optional.empty(), "reservation", Map.of());
      return new AccountDesk(
          store, () -> policy, CycleSettings.DEFAULT, new ManualClock(FakeDesk.AT));
    }

    @Bean
    Receipts receipts(MemoryStore store) {
      return new Receipts(store, Recorder.NOTHING, new PastPolicies());
    }

    @Bean
    EventFeed eventFeed() {
      return new EventFeed(new NothingHappens());
    }

    @Bean
    JobOutputs jobOutputs(MemoryStore store) {
      return new JobOutputs(store, order -> Optional.empty());
    }

    @Bean
    ActivePolicy policy() {
      return () ->
          new ActivePolicy.View(
              "reservation",
              "queue by usage, with reservations",
              "sha256:p",
              "rules",
              List.of(
                  new ActivePolicy.Clause(
                      "D4", "Else it waits.", List.of("D4 A job waits"), List.of("k = 1 (none)"))));
    }

    @Bean
    CycleNow cycle() {
      return () ->
          new CycleNow.Report(FakeDesk.AT, "DECIDED", null, "d-1", 2, List.of("one note"), 12);
    }
  }
}
