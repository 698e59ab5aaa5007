package evenhand.page;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.cycle.Desk;
import evenhand.cycle.JobState;
import evenhand.cycle.accounts.AccountDesk;
import evenhand.sandbox.Browser;
import evenhand.sandbox.NeedsReal;
import evenhand.sandbox.RealParts;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * The web page in a real browser, over the whole service.
 *
 * <p>With {@code -Devenhand.pictures=FOLDER} it leaves the pictures of the README there.
 */
@NeedsReal(RealParts.BROWSER)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class PageTest {
  private static final String TAB = "\uE004";
  private static final String ENTER = "\uE007";
  private static final String RIGHT = "\uE014";
  private static final String EVIL = "<img src=x onerror=window.harm=1>";
  private static final List<String> PAGES =
      List.of("now", "queue", "budgets", "policy", "decisions", "nodes");

  /** Asked of services that may not have them; a browser calls the answer 404 an error. */
  private static final List<String> NOT_HERE = List.of("/v1/me", "/v1/policy/");

  private BusySite site;
  private Browser browser;
  private String evil;

  @BeforeAll
  void start(@TempDir Path folder) throws Exception {
    site = new BusySite(folder, 16);
    site.week();
    site.work(70);
    evil = site.submit(EVIL, "chat", 8, 600, 900);
    browser = new Browser("--lang=en");
    browser.open(site.url());
  }

  @AfterAll
  void end() throws Exception {
    if (browser != null) {
      browser.close();
    }
    if (site != null) {
      site.close();
    }
  }

  @AfterEach
  void nothingToComplainOf() throws Exception {
    assertThat(complaints()).isEmpty();
  }

  private List<String> complaints() throws Exception {
    List<String> lines = new ArrayList<>(browser.console());
    lines.removeIf(
        line -> line.contains("status of 404") && NOT_HERE.stream().anyMatch(line::contains));
    return lines;
  }

  private void go(String hash) throws Exception {
    browser.run("location.hash = '" + hash + "'");
    awaiting(
        "return location.hash === '"
            + hash
            + "' && !!document.querySelector('main .page:not([hidden])')"
            + " && !document.querySelector('.skeleton')");
  }

  private void awaiting(String script) throws Exception {
    for (int i = 0; i < 600; i++) {
      if (browser.run(script).asBoolean()) {
        return;
      }
      Thread.sleep(50);
    }
    throw new AssertionError(
        "never: " + script + "\nThe page: " + text("main") + "\n" + browser.console());
  }

  private String text(String selector) throws Exception {
    JsonNode text =
        browser.run("return (document.querySelector('" + selector + "') || {}).innerText || ''");
    return text.asString();
  }

  private void awaitText(String selector, String words) throws Exception {
    awaiting(
        "return [...document.querySelectorAll('"
            + selector
            + "')].some((e) => e.innerText.includes('"
            + words
            + "'))");
  }

  private void click(String selector, String label) throws Exception {
    boolean there =
        browser
            .run(
                "const e = [...document.querySelectorAll('"
                    + selector
                    + "')].find((x) => x.textContent.trim() === '"
                    + label
                    + "'); if (e) e.click(); return !!e")
            .asBoolean();
    assertThat(there).as(selector + " " + label).isTrue();
  }

  private void type(String label, String value) throws Exception {
    boolean there =
        browser
            .run(
                "const l = [...document.querySelectorAll('label')].find((x) => x.textContent === '"
                    + label
                    + "'); const i = l && document.getElementById(l.htmlFor);"
                    + " if (i) { i.value = '"
                    + value
                    + "'; i.dispatchEvent(new Event('input', {bubbles: true})); } return !!i")
            .asBoolean();
    assertThat(there).as(label).isTrue();
  }

  private void picture(String name) throws Exception {
    String folder = System.getProperty("evenhand.pictures");
    if (folder != null) {
      Files.createDirectories(Path.of(folder));
      Files.write(Path.of(folder, name + ".png"), browser.picture());
    }
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
    type("Find jobs by number, name, account, user or cause", "onerror");
    awaitText(".queue tbody", EVIL);
    assertThat(browser.run("return document.querySelectorAll('.queue tbody tr').length").asInt())
        .isEqualTo(1);
    go("#/job/" + evil);
    assertThat(text(".job-name")).contains(EVIL);
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
  @Order(7)
  void aServiceThatIsAwayIsSaidToBeAway() throws Exception {
    go("#/now");
    assertThat(complaints()).isEmpty();
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
