package evenhand.page;

import evenhand.cycle.Contract;
import evenhand.cycle.Desk;
import evenhand.cycle.SomeJob;
import evenhand.service.Service;
import evenhand.store.Database;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * The whole service on a cluster in memory, under policy {@code budget}, with work of several
 * teams, a node that drains, and a week behind it.
 */
final class BusySite implements AutoCloseable {
  private static final List<String> ACCOUNTS =
      List.of("chat", "translation", "segmentation", "detection", "folding", "docking");
  private static final List<String> NAMES =
      List.of("pretrain", "finetune", "evaluate", "sweep", "ablation", "distill", "debug");

  private final ConfigurableApplicationContext context;
  private final Random random = new Random(5);

  /**
   * Starts it.
   *
   * @param folder for its files
   * @param nodes of 8 GPUs each
   * @param more settings, as {@code --key=value}
   */
  BusySite(Path folder, int nodes, String... more) throws Exception {
    StringBuilder site =
        new StringBuilder(
            """
            evenhand:
              cluster: simulated
              policy: budget
              check-scenarios: false
              cycle: {interval: 1s}
              tiers:
                - {name: a100, sort-order: 20, tflops: 312}
                - {name: h100, sort-order: 30, tflops: 989}
              accounts:
                - {id: language, weight: 3}
                - {id: chat, parent: language, weight: 2}
                - {id: translation, parent: language, weight: 1}
                - {id: vision, weight: 2}
                - {id: segmentation, parent: vision, weight: 1}
                - {id: detection, parent: vision, weight: 1}
                - {id: biology, weight: 1}
                - {id: folding, parent: biology, weight: 3}
                - {id: docking, parent: biology, weight: 1}
              nodes:
            """);
    for (int i = 1; i <= nodes; i++) {
      String tier = i <= nodes / 4 ? "a100" : "h100";
      site.append(
          String.format("    - {name: %s%02d, tier: %s, gpus: 8}%n", tier.charAt(0), i, tier));
    }
    Path settings = Files.writeString(folder.resolve("site.yaml"), site);
    PGSimpleDataSource database = Database.ofAService();
    List<String> all =
        new ArrayList<>(
            List.of(
                "--server.port=0",
                "--spring.config.additional-location=" + settings,
                "--spring.datasource.url=" + database.getURL(),
                "--spring.datasource.username=" + database.getUser(),
                "--logging.level.evenhand=warn"));
    all.addAll(List.of(more));
    context = Service.start(all.toArray(String[]::new));
  }

  URI url() {
    int port = ((WebServerApplicationContext) context).getWebServer().getPort();
    return URI.create("http://127.0.0.1:" + port + "/");
  }

  <T> T context(Class<T> part) {
    return context.getBean(part);
  }

  Desk desk() {
    return context(Desk.class);
  }

  JdbcClient sql() {
    return context(JdbcClient.class);
  }

  String submit(String name, String account, int gpus, int minimum, int runs) {
    return submit("kim", name, account, gpus, minimum, runs);
  }

  String submit(String user, String name, String account, int gpus, int minimum, int runs) {
    return desk()
        .submit(
            SomeJob.PLAIN
                .named(name)
                .of(account)
                .by(user)
                .on(gpus, null)
                .minimum(minimum)
                .resumable(true)
                .runs("#!/bin/sh\nsleep " + runs + "\n")
                .made(),
            null)
        .id();
  }

  /** A week of use and demand of all accounts, behind what is submitted now. */
  void week() {
    // The accounts were there then, too.
    for (String statement :
        List.of(
            "alter table account_changes disable trigger account_changes_append_only",
            "update account_changes set at = at - interval '9 days'",
            "alter table account_changes enable trigger account_changes_append_only",
            "insert into account_owners (account_id, user_name) values ('language', 'ada')")) {
      sql().sql(statement).update();
    }
    sql()
        .sql(
            """
            insert into placement_spans (node_name, tier_id, capacity, state, outside, from_at, to_at)
            select node_name, tier_id, capacity, state, 0, from_at - interval '8 days', from_at
            from placement_spans where to_at is null
            """)
        .update();
    int which = 0;
    for (String account : ACCOUNTS) {
      which++;
      sql()
          .sql(
              """
              with hours as (
                  select h, (3600e6 * :gpus * (0.75 + 0.35 * sin(:phase + extract(epoch from h) / 21000.0)))::bigint as us
                  from generate_series(date_trunc('hour', now()) - interval '7 days',
                                       date_trunc('hour', now()) - interval '1 hour',
                                       interval '1 hour') h),
              used as (
                  insert into usage_hours (hour, account_id, tflops, gpu_us)
                  select h, :account, 989, us from hours on conflict do nothing)
              insert into demand_hours (hour, account_id, gpu_us)
              select h, :account, (us * 1.3)::bigint from hours on conflict do nothing
              """)
          .param("gpus", List.of(38, 22, 21, 20, 15, 4).get(which - 1))
          .param("phase", which * 1.7)
          .param("account", account)
          .update();
    }
  }

  /** Work of everybody, more than there is room for; and this node is drained. */
  void work(int jobs, String drained) throws InterruptedException {
    for (int i = 0; i < jobs; i++) {
      int gpus = List.of(1, 2, 4, 8, 8).get(random.nextInt(5));
      int minimum = random.nextInt(5) == 0 ? 0 : 600 * (1 + random.nextInt(6));
      submit(
          NAMES.get(random.nextInt(NAMES.size())),
          ACCOUNTS.get(random.nextInt(ACCOUNTS.size())),
          gpus,
          minimum,
          600 + random.nextInt(3000));
    }
    Thread.sleep(3000);
    context(Contract.class).drain(drained, "fan 3 is loud", "ann");
  }

  /** The job with the longest story. */
  String busiestJob() {
    return sql()
        .sql(
            """
            select job_id::text from events where job_id is not null
            group by job_id order by count(*) desc, job_id limit 1
            """)
        .query(String.class)
        .single();
  }

  /** Jobs in the queue that were never submitted one by one. */
  void queue(int jobs) {
    sql()
        .sql(
            """
            with made as (
                insert into jobs (name, account_id, user_name, nodes, num_gpus, resumable,
                                  min_runtime_s, state, submitted_at, queue_entered_at)
                select 'bulk' || i, (array['chat','docking','detection'])[1 + i % 3], 'lee', 1, 8,
                       true, 3600, 'GLOBAL_QUEUE_WAIT', now(), now()
                from generate_series(1, :jobs) i
                returning id)
            insert into job_scripts (job_id, script, arguments, environment)
            select id, '#!/bin/sh', '{}', '{}' from made
            """)
        .param("jobs", jobs)
        .update();
  }

  @Override
  public void close() {
    context.close();
  }
}
