package evenhand.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import evenhand.cycle.AccountSetup;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.sandbox.Browser;
import evenhand.sandbox.NeedsReal;
import evenhand.sandbox.RealParts;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.regex.Pattern;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The report tells what was simulated, and it opens in a browser without a network. */
class ReportTest {
  /** Names that would do harm in a page that took them for HTML, or for a hole to be filled. */
  private static final String EVIL = "</script><script>window.harm=1</script>";

  private static final String EVIL_USER = "<img src=x onerror='window.harm=2'>{{data}}";

  @TempDir private Path folder;

  /** Two nodes of 4; preemption, a node that is down, and work outside budgets. */
  private static Played small(String policy) throws PolicyFault {
    String csv =
        "job_id,account,user,submit_s,nodes,num_gpus,run_s,min_runtime_s,kind\n"
            + "x,A,kim,0,1,4,9000,3600,train\n"
            + ("\"" + EVIL + "\",B,\"" + EVIL_USER + "\",1800,2,4,600,600,\n")
            + "u,A,kim,10,1,2,20000,0,sweep\n"
            + "w,B,lee,30,1,1,500,300,debug\n"
            + "z,A,kim,40000,1,3,700,300,\n";
    Trace trace = CsvTrace.read("j.csv", csv);
    assertThat(trace.unreadable()).isEmpty();
    ClusterPlan cluster =
        ClusterPlan.read(
            "c.yaml",
            "tiers: {g: {tflops: 2}}\nnodes: {\"n[1-2]\": {g: 4}}\nchanges:\n"
                + "  - {at: 30000s, nodes: n2, state: drain}\n"
                + "  - {at: 35000s, nodes: n2, state: up}\n");
    AccountPlan accounts =
        AccountPlan.read(
            "a.yaml",
            "all: {children: {A: {weight: 1}, B: {weight: 3}}}\n"
                + "weight_changes: [{at: 20000s, account: A, weight: 3}]\n");
    JobSet set = new JobSet(cluster, accounts, trace, 7L);
    Policy loaded = Policies.load(Optional.empty(), policy, Map.of());
    Simulation.Result result =
        new Simulation(
                loaded,
                cluster,
                accounts,
                trace.jobs(),
                null,
                Duration.ofMinutes(10),
                Simulation.NOBODY)
            .run();
    return Played.of(result, set, Micros.HOUR);
  }

  private static JsonNode data(String page) {
    String from = "<script id=\"data\" type=\"application/json\">";
    int at = page.indexOf(from) + from.length();
    return new JsonMapper().readTree(page.substring(at, page.indexOf("</script>", at)));
  }

  private record Drawn(int job, long from, long to, int flags, int gpus) {}

  private static List<Drawn> runs(JsonNode policy) {
    List<Drawn> runs = new ArrayList<>();
    JsonNode flat = policy.path("runs");
    long from = 0;
    for (int k = 0; k < flat.size(); ) {
      from += flat.get(k + 1).asLong();
      int ranges = flat.get(k + 5).asInt();
      int gpus = 0;
      for (int i = 0; i < ranges; i++) {
        gpus += flat.get(k + 7 + 2 * i).asInt();
      }
      runs.add(
          new Drawn(
              flat.get(k).asInt(),
              from,
              from + flat.get(k + 2).asLong(),
              flat.get(k + 4).asInt(),
              gpus));
      k += 6 + 2 * ranges;
    }
    return runs;
  }

  @Test
  void whatIsDrawnAddsUpToTheSummary() throws PolicyFault {
    List<Played> played = List.of(small("budget"), small("skip"));
    JsonNode data = data(ReportPage.html(played, null));
    assertThat(data.path("teams").toString()).isEqualTo("[\"A\",\"B\",\"all\"]");
    for (int p = 0; p < 2; p++) {
      JsonNode policy = data.path("policies").get(p);
      JsonNode summary = policy.path("summary");
      assertThat(summary.toString())
          .as("the figures of summary.json")
          .isEqualTo(new JsonMapper().writeValueAsString(played.get(p).summary()));
      double allocated = 0;
      double unallocated = 0;
      int preempted = 0;
      int word = -1;
      for (int w = 0; w < policy.path("words").size(); w++) {
        word = policy.path("words").get(w).asString().equals("PREEMPTED") ? w : word;
      }
      double waited = 0;
      boolean[] started = new boolean[data.path("jobs").path("count").asInt()];
      int begun = 0;
      for (Drawn run : runs(policy)) {
        double gpuSeconds = (run.to - run.from) * run.gpus * data.path("tick_s").asDouble();
        allocated += run.flags % 2 == 1 ? gpuSeconds : 0;
        unallocated += run.flags % 2 == 1 ? 0 : gpuSeconds;
        preempted += run.flags / 2 == word ? 1 : 0;
        if (!started[run.job]) {
          started[run.job] = true;
          begun++;
          waited += run.from - data.path("jobs").path("submit").get(run.job).asLong();
        }
      }
      assertThat(allocated).isEqualTo(summary.path("allocated_gpu_s").asDouble());
      assertThat(unallocated).isEqualTo(summary.path("unallocated_gpu_s").asDouble());
      assertThat(preempted).isEqualTo(summary.path("preemptions").asInt());
      assertThat(waited / begun)
          .isCloseTo(summary.path("wait_s").path("all").path("mean").asDouble(), within(1e-9));
      assertThat(policy.path("down").toString())
          .isEqualTo("[30000,5000," + down(policy) + ",1,4,4]");
    }
    // Something of everything is in it, or the sums above would say little.
    JsonNode budget = data.path("policies").get(0);
    assertThat(budget.path("summary").path("preemptions").asInt()).isPositive();
    assertThat(budget.path("summary").path("unallocated_gpu_s").asDouble()).isPositive();
    assertThat(budget.path("usage").path("shares").toString())
        .isEqualTo("[[0,[10000,2500,7500]],[20000,[10000,5000,5000]]]");
  }

  private static int down(JsonNode policy) {
    for (int w = 0; w < policy.path("words").size(); w++) {
      if (policy.path("words").get(w).asString().equals("draining")) {
        return w;
      }
    }
    return -1;
  }

  @Test
  void reservationsAreDrawnAsLongAsTheyHeld() throws PolicyFault {
    Trace trace =
        CsvTrace.read(
            "j.csv", "job_id,submit_s,num_gpus,run_s\na,0,1,10\nb,0,1,30\nc,1,2,5\nd,2,1,5\n");
    ClusterPlan cluster = ClusterPlan.read("c.yaml", "tiers: {g: {}}\nnodes: {n1: {g: 2}}\n");
    Simulation.Result result =
        new Simulation(
                Policies.load(Optional.empty(), "reservation", Map.of()),
                cluster,
                AccountPlan.none(),
                trace.jobs(),
                null,
                Duration.ofMinutes(10),
                Simulation.NOBODY)
            .run();
    JobSet set = new JobSet(cluster, AccountPlan.none(), trace, null);
    JsonNode policy =
        data(ReportPage.html(List.of(Played.of(result, set, Micros.HOUR)), null))
            .path("policies")
            .get(0);
    // c gathers GPU 0 when a ends at 10, until b ends at 30.
    assertThat(policy.path("kept").toString()).isEqualTo("[2,10,20,1,0,1]");
    assertThat(policy.path("summary").path("reserved_idle_gpu_s").asDouble()).isEqualTo(20.0);
  }

  @Test
  void usageIsWhatRanWithinTheWindow() throws PolicyFault {
    Trace trace =
        CsvTrace.read(
            "j.csv",
            "job_id,account,submit_s,num_gpus,run_s,min_runtime_s\na,A,0,2,1800,60\n"
                + "b,A,5400,1,1800,60\n");
    ClusterPlan cluster = ClusterPlan.read("c.yaml", "tiers: {g: {}}\nnodes: {n1: {g: 2}}\n");
    Simulation.Result result =
        new Simulation(
                Policies.load(Optional.empty(), "fifo", Map.of()),
                cluster,
                AccountPlan.none(),
                trace.jobs(),
                null,
                Duration.ofMinutes(10),
                Simulation.NOBODY)
            .run();
    UsageOverTime usage = UsageOverTime.of(result, Micros.HOUR);
    // 2 GPUs for half an hour, nothing for an hour, one for half an hour; the window is an hour.
    double[] used = usage.used().get("A");
    assertThat(usage.stepMicros()).isEqualTo(36 * Micros.SECOND);
    assertThat(used).hasSize(200);
    assertThat(used[49]).isCloseTo(1.0, within(1e-9)); // at 1,800 s
    assertThat(used[99]).isCloseTo(0.5, within(1e-9)); // at 3,600 s
    assertThat(used[124]).isCloseTo(0.25, within(1e-9)); // at 4,500 s: 900 s of it within the hour
    assertThat(used[149]).isCloseTo(0, within(1e-9)); // at 5,400 s
    assertThat(used[199]).isCloseTo(0.25, within(1e-9)); // at 7,200 s
  }

  @Test
  void aTreeWithOneRootHasItsChildrenForTeams() {
    Teams teams =
        new Teams(
            List.of(
                new AccountSetup("all", null, 1),
                new AccountSetup("red", "all", 1),
                new AccountSetup("kim", "red", 1),
                new AccountSetup("blue", "all", 1)));
    assertThat(teams.names()).containsExactly("red", "blue", "all");
    assertThat(teams.of("kim")).isZero();
    assertThat(
            new Teams(List.of(new AccountSetup("a", null, 1), new AccountSetup("b", "a", 1)))
                .names())
        .containsExactly("b", "a");
    assertThat(new Teams(List.of(new AccountSetup("a", null, 1))).names()).containsExactly("a");
  }

  @Test
  void namesOfUsersAreTextAndNothingIsLoadedFromElsewhere() throws PolicyFault {
    String page = ReportPage.html(List.of(small("budget")), null);
    assertThat(page).contains("\\u003c/script>\\u003cscript>window.harm=1").doesNotContain(EVIL);
    assertThat(Pattern.compile("<script").matcher(page).results().count())
        .as("the data, the charts, the page's own")
        .isEqualTo(3);
    assertThat(page)
        .contains("default-src 'none'")
        .doesNotContainPattern("(src|href)\\s*=\\s*[\"']?(https?:)?//");
    String own =
        page.substring(0, page.indexOf("Licensed to the Apache"))
            + page.substring(page.lastIndexOf("<script>"));
    assertThat(own).doesNotContainPattern("https?://");
  }

  @Test
  void picturesAreDrawnAsSvgAndPng() throws Exception {
    List<String> without = new ArrayList<>();
    Map<String, byte[]> files = Pictures.of(List.of(small("budget"), small("skip")), without::add);
    assertThat(without).isEmpty();
    assertThat(files.keySet()).containsExactly("gantt.svg", "gantt.png", "usage.svg", "usage.png");
    for (String name : List.of("gantt", "usage")) {
      String svg = new String(files.get(name + ".svg"), StandardCharsets.UTF_8);
      org.w3c.dom.Element top =
          DocumentBuilderFactory.newInstance()
              .newDocumentBuilder()
              .parse(new ByteArrayInputStream(files.get(name + ".svg")))
              .getDocumentElement();
      var image = ImageIO.read(new ByteArrayInputStream(files.get(name + ".png")));
      assertThat(Integer.parseInt(top.getAttribute("height"))).isEqualTo(image.getHeight());
      assertThat(Integer.parseInt(top.getAttribute("width"))).isEqualTo(image.getWidth());
      assertThat(svg).contains(">B</text>");
      assertThat(image.getRGB(0, 0) & 0xffffff).isEqualTo(0xffffff);
    }
    // The first bar of both pictures is job x's, in the first shade of A's colour, on n1.
    var image = ImageIO.read(new ByteArrayInputStream(files.get("gantt.png")));
    assertThat(image.getRGB(90, 45) & 0xffffff).isEqualTo(new Palette(3).job(0, 0));
    assertThat(SvgDrawing.escaped("<a & \"b\">\u0001é"))
        .isEqualTo("&lt;a &amp; &quot;b&quot;&gt;é");
  }

  /** 30,000 jobs on 1,024 GPUs, laid out by hand so that it takes no simulation. */
  private static Played large(String policy, long seed) throws PolicyFault {
    Random random = new Random(seed);
    ClusterPlan cluster =
        ClusterPlan.read("c.yaml", "tiers: {g: {}}\nnodes: {\"n[001-128]\": {g: 8}}\n");
    List<AccountSetup> accounts = new ArrayList<>();
    for (int team = 1; team <= 15; team++) {
      accounts.add(new AccountSetup("t" + team, null, 1));
    }
    long[] free = new long[128];
    List<JobCourse> courses = new ArrayList<>();
    List<TraceJob> jobs = new ArrayList<>();
    long end = 0;
    long gpuMicros = 0;
    for (int i = 0; i < 30_000; i++) {
      int node = random.nextInt(128);
      long run = (60 + random.nextInt(20_000)) * Micros.SECOND;
      int gpus = 1 + random.nextInt(8);
      String account = "t" + (1 + random.nextInt(15));
      TraceJob job =
          new TraceJob(
              "job-" + i,
              i * 80L * Micros.SECOND,
              account,
              "u" + random.nextInt(150),
              1,
              gpus,
              null,
              run,
              3600,
              true,
              0,
              null,
              true,
              i + 2);
      jobs.add(job);
      JobCourse course = new JobCourse(job, account);
      long from = Math.max(free[node], job.submitMicros());
      List<Integer> indices = new ArrayList<>();
      for (int g = 0; g < gpus; g++) {
        indices.add(g);
      }
      boolean preempted = random.nextInt(10) == 0;
      course.runs.add(
          new JobCourse.Run(
              1,
              from,
              from + run,
              List.of(new JobCourse.Held(String.format("n%03d", node + 1), "g", indices)),
              true,
              from + 3600 * Micros.SECOND,
              preempted ? "PREEMPTED" : "COMPLETED",
              0));
      course.state = JobCourse.State.COMPLETED;
      course.admitted = true;
      course.firstStart = from;
      course.end = from + run;
      course.preemptions = preempted ? 1 : 0;
      free[node] = from + run;
      end = Math.max(end, from + run);
      gpuMicros += run * gpus;
      courses.add(course);
    }
    Simulation.Result result =
        new Simulation.Result(
            Policies.load(Optional.empty(), policy, Map.of()),
            cluster,
            courses,
            List.of(),
            accounts,
            true,
            end,
            new long[] {1},
            1,
            gpuMicros,
            0,
            new Simulation.Ledger(0, 0, 0));
    JobSet set =
        new JobSet(cluster, AccountPlan.none(), new Trace(jobs, List.of(), jobs.size()), null);
    return Played.of(result, set, 7 * 24 * Micros.HOUR);
  }

  @Test
  @NeedsReal(RealParts.BROWSER)
  void aRealBrowserShowsThirtyThousandJobsWithoutAComplaint() throws Exception {
    String page = ReportPage.html(List.of(large("budget", 1), large("skip", 2)), null);
    assertThat(page.length()).isLessThan(6_000_000);
    try (Browser browser = new Browser()) {
      browser.open(file("large.html", page));
      assertThat(browser.run("return document.body.dataset.ready").asString()).isEqualTo("yes");
      // Bars are there: many colours in the first picture.
      String colours =
          "gantt.panels.forEach(paint); const c = document.querySelector('canvas.gantt');"
              + "const d = c.getContext('2d').getImageData(100, 10, c.width - 120, 300).data;"
              + "const seen = new Set();"
              + "for (let i = 0; i < d.length; i += 4) seen.add(d[i] * 65536 + d[i+1] * 256 + d[i+2]);"
              + "return seen.size";
      assertThat(browser.run(colours).asInt()).isGreaterThan(30);
      // The wheel zooms into time once the picture has the focus, and not before.
      String wheel =
          "const c = document.querySelector('canvas.gantt'), b = c.getBoundingClientRect();"
              + "c.dispatchEvent(new WheelEvent('wheel', {deltaY: -300, clientX: b.left + 600,"
              + " clientY: b.top + 100, cancelable: true})); return gantt.t1 - gantt.t0";
      double all = browser.run(wheel).asDouble();
      browser.run("document.querySelector('canvas.gantt').focus(); return 1");
      assertThat(browser.run(wheel).asDouble()).isLessThan(all * 0.5);
      // Keys move and show all again; a job is found by its id and told of.
      browser.run(
          "document.querySelector('canvas.gantt').dispatchEvent(new KeyboardEvent('keydown',"
              + " {key: '0'})); return 1");
      assertThat(browser.run("return gantt.t1 - gantt.t0").asDouble()).isEqualTo(all);
      assertThat(browser.run("return find('job-777')").asString())
          .startsWith("Job job-777: ")
          .contains("account t")
          .contains("protected until day");
      assertThat(browser.run("return find('nobody')").asString())
          .isEqualTo("There is no job nobody in this job set.");
      // Pointing at a bar shows its job.
      browser.run("all(); gantt.panels.forEach(paint); return 1");
      browser.run(
          "const p = gantt.panels[0], b = p.canvas.getBoundingClientRect(), s = p.scale;"
              + "point(p, {clientX: b.left + s.left + s.width / 2, clientY: b.top + s.top + 1}); return 1");
      assertThat(browser.run("return document.querySelector('.tip b').textContent").asString())
          .startsWith("Job job-");
      assertThat(browser.console()).isEmpty();
    }
  }

  @Test
  @NeedsReal(RealParts.BROWSER)
  void aRealBrowserTakesNamesForTextAndShowsWhatIsMissing() throws Exception {
    Sweep.Setting setting =
        new Sweep.Setting(
            Policies.load(Optional.empty(), "skip", Map.of()), List.of(EVIL), Micros.HOUR);
    Trace none = CsvTrace.read("j.csv", "job_id,submit_s,num_gpus,run_s\n");
    ClusterPlan cluster = ClusterPlan.read("c.yaml", "tiers: {g: {}}\nnodes: {n1: {g: 2}}\n");
    JobSet empty = new JobSet(cluster, AccountPlan.none(), none, null);
    Sweep sweep =
        new Sweep(
            List.of("key"),
            List.of(setting),
            List.of(new JobSet.Source(1L, () -> empty)),
            null,
            Duration.ofMinutes(10),
            Duration.ZERO);
    Sweep.Outcome nothing = sweep.run(1, n -> {});
    try (Browser browser = new Browser("--blink-settings=preferredColorScheme=0")) {
      browser.open(file("small.html", ReportPage.html(List.of(small("budget")), null)));
      assertThat(
              browser
                  .run("return find(" + new JsonMapper().writeValueAsString(EVIL) + ")")
                  .asString())
          .contains(EVIL);
      browser.run("document.querySelectorAll('details').forEach(d => d.open = true); return 1");
      browser.run(
          "const p = gantt.panels[0]; p.r.job.forEach((j, i) => showTip(9, 9, 'red', jobName(j), told(p, i)));"
              + " return 1");
      assertThat(browser.run("return window.harm === undefined").asBoolean()).isTrue();
      assertThat(browser.run("return document.querySelectorAll('img').length").asInt()).isZero();
      assertThat(browser.console()).isEmpty();
      // Every picture has words for those who do not see it.
      assertThat(
              browser
                  .run(
                      "return [...document.querySelectorAll('canvas:not([aria-hidden]), .chart')]"
                          + ".every(e => e.getAttribute('aria-label'))")
                  .asBoolean())
          .isTrue();

      browser.open(file("empty.html", ReportPage.html(nothing.first(), sweep.data(nothing))));
      assertThat(browser.run("return document.body.dataset.ready").asString()).isEqualTo("yes");
      assertThat(browser.run("return document.querySelectorAll('.empty').length").asInt())
          .isGreaterThanOrEqualTo(4);
      assertThat(browser.run("return document.querySelector('#sweep').innerText").asString())
          .contains(EVIL);
      assertThat(browser.run("return window.harm === undefined").asBoolean()).isTrue();
      assertThat(browser.console()).isEmpty();
    }
  }

  private java.net.URI file(String name, String page) throws IOException {
    return Files.writeString(folder.resolve(name), page).toUri();
  }
}
