package evenhand.crash;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.sandbox.SlurmSandbox;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * A Slurm, a database that outlives the services, the jobs given to them, and what must be true of
 * all of it in the end. Each run of a job writes its name down where it runs.
 */
final class Site implements AutoCloseable {
  private final SlurmSandbox slurm;
  private final EmbeddedPostgres postgres;
  private final Path folder;
  private final Path runs;
  private final List<ServiceProcess> services = new ArrayList<>();
  private int started;

  Site(SlurmSandbox slurm) throws IOException {
    this.slurm = slurm;
    this.postgres = EmbeddedPostgres.builder().start();
    this.folder = Files.createTempDirectory(slurm.folder().resolve("work"), "site");
    this.runs = Files.createFile(folder.resolve("runs"));
  }

  /** Starts one more service; it may not listen yet. */
  ServiceProcess service(String crashAt, String... more) {
    List<String> settings =
        new ArrayList<>(
            List.of(
                "--spring.datasource.url="
                    + postgres.getJdbcUrl("postgres", "postgres").replaceAll("\\?.*", ""),
                "--spring.datasource.username=postgres",
                "--spring.datasource.password=",
                "--spring.datasource.hikari.minimum-idle=1",
                "--evenhand.cluster=slurm",
                "--evenhand.slurm.conf=" + slurm.clientConfWithTimeout(2),
                "--evenhand.slurm.sbatch-options=--mem=50M",
                "--evenhand.cycle.interval=300ms",
                "--evenhand.cycle.lease=2s",
                "--evenhand.submission.pause=2s",
                "--evenhand.submission.max-pause=4s",
                "--evenhand.accounts[0].id=BCG",
                "--evenhand.accounts[1].id=KDG"));
    int i = 0;
    for (String[] tier :
        new String[][] {
          {"3080ti", "10", "34.1"}, {"4090", "20", "82.6"}, {"5090", "30", "104.8"}
        }) {
      String name = "--evenhand.tiers[" + i++ + "].";
      settings.add(name + "name=" + tier[0]);
      settings.add(name + "sort-order=" + tier[1]);
      settings.add(name + "tflops=" + tier[2]);
      settings.add(name + "partition=gpu" + tier[0]);
    }
    settings.addAll(List.of(more));
    ServiceProcess service = new ServiceProcess(folder, "service" + ++started, crashAt, settings);
    services.add(service);
    return service;
  }

  /** A submission whose every run writes its name down. */
  String job(String account, int gpus, String seconds) {
    return """
        {"name": "j", "account": "%s", "user": "kim", "num_gpus": %d, "resumable": false,
         "time_limit_s": 600, "workdir": "%s",
         "script": "#!/bin/sh\\necho $EVENHAND_JOB_ID-$EVENHAND_ATTEMPT >> %s\\nsleep %s\\n"}
        """
        .formatted(account, gpus, folder, runs, seconds);
  }

  JdbcClient sql() {
    return JdbcClient.create(postgres.getPostgresDatabase());
  }

  long count(String query) {
    return sql().sql(query).query(Long.class).single();
  }

  void awaitAllEnded(int seconds) throws InterruptedException {
    long end = System.nanoTime() + seconds * 1_000_000_000L;
    String open =
        """
        select (select count(*) from jobs
                where state in ('GLOBAL_QUEUE_WAIT', 'DISPATCHING', 'RUNNING'))
             + (select count(*) from outbox where closed_at is null)
        """;
    while (count(open) > 0) {
      if (System.nanoTime() > end) {
        throw new AssertionError(
            "not all ended: "
                + sql()
                    .sql(
                        "select id, state, state_reason from jobs where ended_at is null order by id")
                    .query()
                    .listOfRows()
                + sql().sql("select * from outbox where closed_at is null").query().listOfRows()
                + "\n"
                + services.get(services.size() - 1).log());
      }
      Thread.sleep(200);
    }
  }

  /** How often each attempt has run, by its name. */
  Map<String, Integer> runs() throws IOException {
    Map<String, Integer> count = new HashMap<>();
    for (String line : Files.readAllLines(runs)) {
      count.merge(line, 1, Integer::sum);
    }
    return count;
  }

  /** Each attempt ran at most once, each completed one did, and none is unknown. */
  void eachRanOnce() throws IOException {
    Map<String, Integer> ran = runs();
    assertThat(ran).as("runs of each attempt").allSatisfy((name, n) -> assertThat(n).isOne());
    String name = "job_id || '-' || attempt";
    assertThat(
            sql()
                .sql("select " + name + " from attempts where state = 'COMPLETED'")
                .query(String.class)
                .list())
        .as("completed attempts have run")
        .allMatch(ran::containsKey);
    assertThat(sql().sql("select " + name + " from attempts").query(String.class).list())
        .as("what ran was decided")
        .containsAll(ran.keySet());
    assertThat(
            sql()
                .sql(
                    "select "
                        + name
                        + " from attempts where started_at is not null and state <> 'CANCELLED'")
                .query(String.class)
                .list())
        .as("what is said to have run has")
        .allMatch(ran::containsKey);
  }

  /** Nothing is left open anywhere, and the sums are sums. */
  void booksAreClosed() {
    assertThat(count("select count(*) from outbox where closed_at is null")).isZero();
    assertThat(count("select count(*) from attempts where ended_at is null")).isZero();
    assertThat(count("select count(*) from jobs where reserved_gpus > 0")).isZero();
    assertThat(slurm.run("squeue", "--noheader", "--format=%i %j %T %r")).isEmpty();
    String sums =
        """
        select count(*) from accounts a
        where abs(a.cumulative_usage
                  - coalesce((select sum(tflop_s) from charges c where c.account_id = a.id), 0)) > 0.01
           or abs(a.cumulative_usage
                  - coalesce((select sum(tflop_s) from ledger l where l.account_id = a.id), 0)) > 0.01
        """;
    assertThat(count(sums)).as("accounts whose usage is not the sum of the rows").isZero();
    String runs =
        """
        select count(*)
        from attempts a
        cross join lateral
             (select coalesce(sum(g.gpus * t.tflops), 0)
                     * extract(epoch from a.ended_at - a.started_at) as tflop_s
              from attempt_gpus g join gpu_tiers t on t.id = g.tier_id
              where g.job_id = a.job_id and g.attempt = a.attempt) due
        cross join lateral
             (select coalesce(sum(tflop_s), 0) as tflop_s from ledger l
              where l.kind in ('run', 'unallocated') and l.job_id = a.job_id and l.attempt = a.attempt) had
        where a.started_at is not null and abs(due.tflop_s - had.tflop_s) > 0.01
        """;
    assertThat(count(runs)).as("attempts whose run is not in the ledger as it was").isZero();
  }

  /** The service's own checks say the same: the ledger adds up, and each decision can be remade. */
  void isVerifiedBy(ServiceProcess service) throws IOException, InterruptedException {
    String ledger = service.get("/v1/ledger/verify").body();
    assertThat(ledger).contains("\"clean\":true");
    for (long id : sql().sql("select id from decisions order by id").query(Long.class).list()) {
      assertThat(service.get("/v1/decisions/" + id + "/verify").body())
          .as("decision %d", id)
          .contains("\"same\":true");
    }
  }

  @Override
  public void close() throws IOException {
    services.forEach(ServiceProcess::close);
    postgres.close();
  }
}
