package evenhand.crash;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.cycle.Steps;
import evenhand.sandbox.RealSlurm;
import evenhand.sandbox.SlurmSandbox;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The service is killed again and again while jobs come in. It runs twice: as soon as the one that
 * decides dies the other takes over, and the next is started; so a kill costs a start and no more.
 *
 * <p>{@code -Devenhand.crash.kills=200} for a night's run, {@code -Devenhand.crash.seed=…} for one
 * seen before.
 */
@RealSlurm(minJobAgeSeconds = 600)
@Timeout(value = 120, unit = TimeUnit.MINUTES)
class CrashTest {
  private static final Pattern ID = Pattern.compile("\"id\":\"(\\d+)\"");
  private static final int KILLS = Integer.getInteger("evenhand.crash.kills", 20);
  private static final long SEED = Long.getLong("evenhand.crash.seed", System.nanoTime());

  private final Random random = new Random(SEED); // of the work
  private final Random where = new Random(SEED + 2);
  private final List<String> plan = new ArrayList<>();
  private final TreeMap<String, Integer> died = new TreeMap<>();
  private final List<String> ids = new ArrayList<>();
  private int keys;

  /** Where the next one dies: every step in turn, in an order of the seed's, then any time. */
  private String next() {
    if (plan.isEmpty()) {
      Arrays.stream(Steps.Step.values()).map(Enum::name).forEach(plan::add);
      plan.addAll(List.of("", ""));
      Collections.shuffle(plan, where);
    }
    String step = plan.remove(plan.size() - 1);
    return step.isEmpty() ? "" : step + ":" + (1 + where.nextInt(3));
  }

  /** One submission, or a cancellation, to any that answers; with the same key until it does. */
  private void work(Site site, List<ServiceProcess> services) throws InterruptedException {
    String key = "key" + ++keys;
    String body =
        site.job(
            random.nextBoolean() ? "BCG" : "KDG",
            1 + random.nextInt(2),
            "0." + (1 + random.nextInt(9)));
    for (int i = 0; i < 3000; i++) {
      for (ServiceProcess service : List.copyOf(services)) {
        try {
          if (service.url().isEmpty() || !service.isAlive()) {
            continue;
          }
          HttpResponse<String> answer = service.post("/v1/jobs", key, body);
          if (answer.statusCode() == 201 || answer.statusCode() == 200) {
            Matcher id = ID.matcher(answer.body());
            assertThat(id.find()).isTrue();
            ids.add(id.group(1));
            if (random.nextInt(6) == 0) {
              String some = ids.get(ids.size() - 1 - random.nextInt(Math.min(4, ids.size())));
              service.post("/v1/jobs/" + some + "/cancel", null, "{}");
            }
            return;
          }
          assertThat(answer.statusCode()).as(answer.body()).isEqualTo(503);
        } catch (IOException e) {
          // It died under the request: whether the job is there the key will show.
        }
      }
      Thread.sleep(100);
    }
    throw new AssertionError(
        "nobody took a job for five minutes; the services that there are now:\n"
            + services.stream().map(ServiceProcess::log).collect(Collectors.joining("\n---\n")));
  }

  @Test
  void whateverDiesEveryJobRunsOnce(SlurmSandbox slurm) throws Exception {
    System.out.println("crash: seed " + SEED + ", " + KILLS + " kills");
    long began = System.nanoTime();
    try (Site site = new Site(slurm)) {
      List<ServiceProcess> services = new CopyOnWriteArrayList<>();
      List<String> ends = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        ends.add(next());
        services.add(site.service(ends.get(i)));
      }
      ExecutorService clients = Executors.newSingleThreadExecutor();
      AtomicBoolean enough = new AtomicBoolean();
      Future<?> working =
          clients.submit(
              () -> {
                while (!enough.get()) {
                  work(site, services);
                  Thread.sleep(random.nextInt(600));
                }
                return null;
              });
      killAll(site, services, ends);
      enough.set(true);
      try (ServiceProcess last = site.service("")) {
        services.add(last);
        last.awaitListening();
        working.get(60, TimeUnit.SECONDS);
        clients.shutdown();
        site.awaitAllEnded(120);
        Thread.sleep(1000); // a cycle that finds what was never released
        site.eachRanOnce();
        assertThat(site.count("select count(*) from jobs")).isEqualTo(keys);
        assertThat(ids.stream().distinct().count()).isEqualTo(keys);
        site.booksAreClosed();
        site.isVerifiedBy(last);
      }
      System.out.printf(
          "crash: seed %d, %d kills, %d jobs, %d runs, %d s; died at %s%n",
          SEED,
          KILLS,
          keys,
          site.runs().size(),
          TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began),
          died);
    }
  }

  /** Any time within a second or two, or long enough for its step to come. */
  private static long until(String end, Random when) {
    int millis = end.isEmpty() ? when.nextInt(1500) : 3000;
    return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
  }

  /** Until there were enough kills; leaves none running. */
  private void killAll(Site site, List<ServiceProcess> services, List<String> ends)
      throws InterruptedException {
    Random when = new Random(SEED + 1);
    int kills = 0;
    long last = System.nanoTime() + TimeUnit.SECONDS.toNanos(60L * KILLS);
    // Until when each may decide, from when it is first seen to: however long starting takes here,
    // somebody has to be there long enough to take jobs.
    Map<ServiceProcess, Long> mayDecide = new HashMap<>();
    while (kills < KILLS) {
      assertThat(System.nanoTime()).as("a kill a minute").isLessThan(last);
      Thread.sleep(100);
      for (int i = 0; i < services.size() && kills < KILLS; i++) {
        int at = i;
        ServiceProcess service = services.get(i);
        if (service.isAlive()
            && service.url().isPresent()
            && service.role().equals("leader")
            && System.nanoTime()
                > mayDecide.computeIfAbsent(service, s -> until(ends.get(at), when))) {
          // The step it was to die at did not come: then at whatever it does.
          ends.set(i, "");
          service.kill();
        }
        if (!service.isAlive()) {
          assertThat(service.exitCode()).as(service.log()).isEqualTo(137);
          died.merge(ends.get(i).isEmpty() ? "any time" : ends.get(i), 1, Integer::sum);
          kills++;
          if (kills < KILLS) {
            ends.set(i, next());
            services.set(i, site.service(ends.get(i)));
          }
        }
      }
    }
    services.forEach(ServiceProcess::close);
  }
}
