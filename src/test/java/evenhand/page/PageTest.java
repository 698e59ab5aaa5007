package evenhand.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import evenhand.cycle.Contract;
import evenhand.cycle.Desk;
import evenhand.cycle.JobState;
import evenhand.cycle.accounts.AccountDesk;
import evenhand.sandbox.Browser;
import evenhand.sandbox.NeedsReal;
import evenhand.sandbox.RealParts;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * The web page in a real browser, over the whole service.
 *
 * <p>With {@code -Devenhand.pictures=FOLDER} it leaves the pictures of the README there.
 */
@NeedsReal(RealParts.BROWSER)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class PageTest extends PageInBrowser {
  private static final String TAB = "\uE004";
  private static final String ENTER = "\uE007";
  private static final String RIGHT = "\uE014";
  private static final String EVIL = "<img src=x onerror=window.harm=1>";
  private static final List<String> PAGES =
      List.of("now", "queue", "budgets", "policy", "decisions", "nodes");

  private String evil;

  @BeforeAll
  void start(@TempDir Path folder) throws Exception {
    site = new BusySite(folder, 16);
    site.week();
    site.work(70, "h12");
    browser = new Browser("--lang=en");
    browser.open(site.url());
  }

  /** A job whose name would do harm if it were more than text; there once it is asked for. */
  private String evil() {
    if (evil == null) {
      evil = site.submit(EVIL, "chat", 8, 600, 900);
    }
    return evil;
  }

  @AfterEach
  void nothingToComplainOf() throws Exception {
    assertThat(browser.console()).isEmpty();
  }

  @Test
  @Order(1)
  void eachPageShowsWhatStandsOnALaptopAndAPhoneInBothThemes() throws Exception {
    String job = site.desk().queue(3, null).items().get(2).id();
    for (boolean phone : List.of(false, true)) {
      browser.screen(phone ? 375 : 1280, 820, phone);
      browser.prefersDark(phone);
      List<String> all = new ArrayList<>(PAGES);
      all.add("job/" + job);
      for (String page : all) {
        go("#/" + page);
        assertThat(text("main")).as(page).hasSizeGreaterThan(150);
        assertThat(browser.run("return document.documentElement.scrollWidth - innerWidth").asInt())
            .as("%s is wider than the screen, phone: %s", page, phone)
            .isLessThanOrEqualTo(0);
        assertThat(browser.run("return document.querySelectorAll('h1').length").asInt())
            .isEqualTo(1);
        String unnamed =
            browser
                .run(
                    "return [...document.querySelectorAll('button, input, select, a')].filter((e) =>"
                        + " !e.closest('[hidden]') && !(e.textContent.trim() ||"
                        + " e.getAttribute('aria-label') || (e.labels && e.labels.length)))"
                        + ".map((e) => e.outerHTML).join('\\n')")
                .asString();
        assertThat(unnamed).as("controls without a name, " + page).isEmpty();
      }
    }
    browser.screen(1280, 820, false);
    browser.prefersDark(false);
    go("#/now");
    awaitText(".tile", "of 128 GPUs are up");
    assertThat(browser.run("return document.querySelectorAll('.nodes .cell').length").asInt())
        .isEqualTo(128);
    assertThat(browser.run("return document.querySelectorAll('.cell.job').length").asInt())
        .isGreaterThan(60);
    assertThat(text(".node[data-node=h12]")).contains("draining");
    picture("page-now");
    go("#/budgets?account=language");
    awaiting(
        "const c = document.querySelector('.detail canvas'); return !!c && c.clientWidth > 300");
    picture("page-budgets");
    go("#/job/" + site.busiestJob());
    awaitText(".story", "Given GPUs");
    assertThat(browser.run("return document.querySelectorAll('.strip span').length").asInt())
        .isGreaterThan(1);
    picture("page-job");
    go("#/nodes");
    awaitText(".node-line", "fan 3 is loud");
    go("#/policy?clause=K4");
    awaitText("details.clause[open]", "Unprotected work of an account that ranks behind");
    go("#/decisions?clause=D1");
    awaitText(".decision-list .said", "D1");
    browser.run("document.querySelector('.decision-list details').open = true");
    awaitText(".outcomes", "starts");
    click(".decision-body button", "Facts");
    awaitText(".facts-box", "Jobs that waited");
    click(".decision-body button", "Decide it again");
    awaitText(".verdict", "byte for byte");
    assertThat(browser.run("return window.harm === undefined").asBoolean()).isTrue();
  }

  @Test
  @Order(2)
  void whatIsSubmittedAppearsWithoutReload() throws Exception {
    go("#/queue");
    browser.run("window.stillTheSame = true");
    awaitText("#tools .live", "live");
    String id = site.submit("lately", "detection", 8, 600, 60);
    awaitText(".queue tbody th", "lately");
    assertThat(browser.run("return window.stillTheSame").asBoolean()).isTrue();
    type("Find jobs by number, name, account, user or cause", "lately");
    awaiting("return document.querySelectorAll('.queue tbody tr').length === 1");
    // Words of a user are text, whatever they look like.
    String evil = evil();
    type("Find jobs by number, name, account, user or cause", "onerror");
    awaitText(".queue tbody", EVIL);
    assertThat(browser.run("return document.querySelectorAll('.queue tbody tr').length").asInt())
        .isEqualTo(1);
    go("#/job/" + evil);
    assertThat(text(".job-name")).contains(EVIL);
    awaitText("#misses td", "needed on");
    click("#misses button", "What would start it now?");
    awaiting(
        "return !!document.querySelector('#misses [aria-live] li, #misses [aria-live] p:not(.hint)')");
    assertThat(browser.run("return window.harm === undefined").asBoolean()).isTrue();

    go("#/job/" + id);
    awaitText(".story", "Submitted");
    click(".actions button", "Cancel job");
    type("Your name", "ann");
    click("dialog button", "Cancel job");
    awaitText(".job-head", "cancelled");
    awaitText(".story", "cancelled by ann");
    Desk.JobView job = site.desk().job(id);
    assertThat(job.state()).isEqualTo(JobState.CANCELLED);
    assertThat(job.stateReason()).contains("ann");
  }

  @Test
  @Order(3)
  void weightsAreChangedByWhoMayAndSeenBefore() throws Exception {
    go("#/budgets?account=language");
    awaitText(".detail h2", "language");
    awaiting("return !!document.querySelector('.detail canvas')");
    click(".detail button", "Change weights below it");
    type("chat", "6");
    // 50 % of the cluster, 6 of 7 parts of it.
    awaitText(".preview", "42.9 %");
    assertThat(text(".preview")).contains("33.3 %", "▲ +9.5 %", "▼ −9.5 %");
    type("Reason", "their paper is out");
    type("Your name", "kim");
    click("dialog button", "Save");
    awaitText("dialog .fault", "ada");
    assertThat(site.context(AccountDesk.class).weights("language").get("chat")).isEqualTo(2);
    type("Your name", "ada");
    click("dialog button", "Save");
    awaiting("return !document.querySelector('dialog')");
    assertThat(site.context(AccountDesk.class).weights("language").get("chat")).isEqualTo(6);
    awaitText(".changes", "their paper is out");
    awaitText(".budgets tr", "42.9 %");
    // What is refused is no fault of the page, but the browser notes it.
    assertThat(browser.console()).allMatch(line -> line.contains("403"));
  }

  @Test
  @Order(4)
  void theMainControlsAreReachedByKeyboard() throws Exception {
    browser.open(site.url());
    awaiting("return !!document.querySelector('main .page:not([hidden])')");
    browser.press(TAB);
    String first = "return document.activeElement.textContent.trim()";
    assertThat(browser.run(first).asString()).isEqualTo("Skip to the content");
    browser.press(TAB, TAB);
    assertThat(browser.run(first).asString()).isEqualTo("Now");
    browser.press(TAB, ENTER);
    awaiting("return location.hash === '#/queue'");
    go("#/now");
    browser.run("document.querySelector('.node').focus()");
    browser.press(RIGHT, RIGHT);
    assertThat(browser.run("return document.activeElement.dataset.node").asString())
        .isEqualTo("a03");
    awaitText(".tip", "a03");
    assertThat(browser.run("return document.activeElement.getAttribute('aria-label')").asString())
        .startsWith("a03, a100: ");
    browser.press(ENTER);
    awaiting("return location.hash === '#/nodes?node=a03'");
    awaitText(".node-line h2", "a03");
    click(".node-line button", "Drain");
    awaiting("return document.activeElement.tagName === 'INPUT'");
    type("Reason", "new disk");
    type("Your name", "ann");
    browser.press(ENTER);
    awaitText(".node-line", "new disk");
    click(".node-line button", "Use again");
    click("dialog button", "Use again");
    awaiting("return !document.querySelector('dialog')");
    awaiting("return document.querySelector('.node-line .node-state').textContent === 'up'");
  }

  @Test
  @Order(5)
  void everyWordIsThereInBothLanguages() throws Exception {
    browser.run(
        "import('/page/words.js').then((w) => { window.keys = [w.keysOf('en'), w.keysOf('ko')]"
            + ".map((k) => k.join(' ')); })");
    awaiting("return !!window.keys");
    List<String> keys = List.of(browser.run("return window.keys[0]").asString().split(" "));
    for (evenhand.cycle.events.Event.Kind kind : evenhand.cycle.events.Event.Kind.values()) {
      assertThat(keys).contains("event." + kind.word());
    }
    for (evenhand.rollout.Event.Kind kind : evenhand.rollout.Event.Kind.values()) {
      assertThat(keys).contains("policy.kind." + kind.name().toLowerCase(Locale.ROOT));
    }
    assertThat(browser.run("return window.keys[1]").asString())
        .isEqualTo(browser.run("return window.keys[0]").asString());
    browser.run(
        "const l = document.getElementById('lang'); l.value = 'ko';"
            + " l.dispatchEvent(new Event('change'))");
    for (String page : PAGES) {
      go("#/" + page);
    }
    awaitText("h1", "노드");
    assertThat(browser.run("return document.documentElement.lang").asString()).isEqualTo("ko");
    browser.run(
        "const l = document.getElementById('lang'); l.value = 'en';"
            + " l.dispatchEvent(new Event('change'))");
    awaitText("h1", "Nodes");
    browser.run(
        "const l = document.getElementById('theme'); l.value = 'dark';"
            + " l.dispatchEvent(new Event('change'))");
    assertThat(browser.run("return getComputedStyle(document.body).backgroundColor").asString())
        .isEqualTo("rgb(18, 22, 27)");
    browser.run(
        "const l = document.getElementById('theme'); l.value = 'auto';"
            + " l.dispatchEvent(new Event('change'))");
  }

  @Test
  @Order(6)
  void wordsOfUsersAreTextOnEveryPage() throws Exception {
    // Wherever a person may leave words: names, reasons, users, the node they drain.
    site.desk().cancel(site.submit(EVIL, EVIL, "docking", 8, 600, 60), EVIL);
    site.context(Contract.class).drain("h11", EVIL, EVIL);
    site.context(AccountDesk.class).setWeights("language", Map.of("chat", 4.0), "ada", EVIL);
    List<String> all = new ArrayList<>(PAGES);
    all.addAll(
        List.of(
            "job/" + evil(),
            "queue?search=" + URLEncoder.encode(EVIL, StandardCharsets.UTF_8),
            "budgets?account=language",
            "decisions?job=" + evil(),
            "policy?clause=" + URLEncoder.encode(EVIL, StandardCharsets.UTF_8),
            "nodes?node=h11"));
    for (String page : all) {
      browser.open(site.url());
      go("#/" + page);
    }
    for (String[] shown :
        new String[][] {
          {"job/" + evil(), ".job-name"},
          {"nodes?node=h11", ".node-line"},
          {"budgets?account=language", ".changes"}
        }) {
      go("#/" + shown[0]);
      awaiting(
          "return [...document.querySelectorAll('"
              + shown[1]
              + "')].some((e) => e.innerText.includes('"
              + EVIL
              + "'))");
    }
    go("#/now");
    browser.run("document.querySelector('.node[data-node=h11]').focus()");
    assertThat(browser.run("return document.querySelectorAll('img').length").asInt()).isZero();
    assertThat(browser.run("return window.harm === undefined").asBoolean()).isTrue();
    site.context(Contract.class).resume("h11", "ann");
  }

  @Test
  @Order(7)
  void aPageOfAnotherSiteChangesNothing() throws Exception {
    String job = site.submit("theirs", "chat", 8, 600, 60);
    String url = site.url().toString();
    String page =
        """
        <!doctype html><title>other</title><script>
        const post = (path, type, body) => fetch('%1$s' + path, {method: 'POST', mode: 'no-cors',
            headers: {'Content-Type': type}, body});
        const read = (path) => fetch('%1$s' + path).then(() => 'read', () => 'kept');
        Promise.allSettled([
          post('v1/jobs/%2$s/cancel', 'text/plain', '{"user":"kim"}'),
          post('v1/nodes/a02/drain', 'text/plain', '{"reason":"x","user":"kim"}'),
          post('v1/cycle', 'application/x-www-form-urlencoded', ''),
        ]).then(() => read('v1/queue')).then((r) => { window.outcome = r; });
        </script>
        """
            .formatted(url, job);
    HttpServer other = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    other.createContext(
        "/",
        exchange -> {
          byte[] bytes = page.getBytes(StandardCharsets.UTF_8);
          exchange.getResponseHeaders().set("Content-Type", "text/html; charset=utf-8");
          exchange.sendResponseHeaders(200, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    other.start();
    try {
      browser.open(URI.create("http://127.0.0.1:" + other.getAddress().getPort() + "/"));
      awaiting("return !!window.outcome");
      assertThat(browser.run("return window.outcome").asString()).isEqualTo("kept");
    } finally {
      other.stop(0);
    }
    assertThat(site.desk().job(job).state()).isEqualTo(JobState.GLOBAL_QUEUE_WAIT);
    assertThat(
            site.sql()
                .sql("select count(*) from node_drains where node_name = 'a02'")
                .query(Integer.class)
                .single())
        .isZero();
    browser.console(); // full of what the browser says about that page
    browser.open(site.url());
  }

  @Test
  @Order(8)
  void tenThousandQueuedJobs() throws Exception {
    site.queue(10_000);
    go("#/queue");
    awaitText(".bar .count", "of 10,0");
    assertThat(browser.run("return document.querySelectorAll('.queue tbody tr').length").asInt())
        .isLessThanOrEqualTo(110);
    click(".pager button", "Next");
    awaitText(".bar .count", "101–200 of 10,0");
    type("Find jobs by number, name, account, user or cause", "bulk9999");
    awaiting("return document.querySelectorAll('.queue tbody tr').length === 1");
    assertThat(text(".queue tbody")).contains("bulk9999");
    go("#/now");
    awaitText(".tile-value", "10,0");
  }

  @Test
  @Order(9)
  void aServiceThatIsAwayIsSaidToBeAway() throws Exception {
    go("#/now");
    assertThat(browser.console()).isEmpty();
    URI url = site.url();
    site.close();
    site = null;
    awaitText("#banner", "The service cannot be reached. What you see stood at");
    assertThat(browser.run("return document.querySelectorAll('.nodes .cell').length").asInt())
        .isEqualTo(128);
    awaitText("#tools .live", "not live");
    browser.run("location.hash = '#/nodes'");
    awaitText(".state.error", "The service cannot be reached.");
    assertThat(browser.console()).allMatch(line -> line.contains(url.getAuthority()));
  }
}
