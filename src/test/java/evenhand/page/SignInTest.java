package evenhand.page;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.access.Role;
import evenhand.access.Tokens;
import evenhand.api.Access;
import evenhand.cycle.JobState;
import evenhand.cycle.accounts.AccountDesk;
import evenhand.sandbox.Browser;
import evenhand.sandbox.NeedsReal;
import evenhand.sandbox.RealParts;
import java.nio.file.Path;
import java.time.Instant;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The page over a service that asks who somebody is: signing in and out, and what each role may.
 */
@NeedsReal(RealParts.BROWSER)
class SignInTest extends PageInBrowser {
  private static final String WHO = "#tools .who";

  private final Map<Role, String> texts = new EnumMap<>(Role.class);
  private Tokens tokens;
  private String own;
  private String foreign;

  @BeforeAll
  void start(@TempDir Path folder) throws Exception {
    site = new BusySite(folder, 4, "--evenhand.security=on");
    site.week();
    tokens = site.context(Access.class).tokens();
    for (Role role : Role.values()) {
      // The owner is the one that the tree names, of account language.
      String user = role == Role.OWNER ? "ada" : "u-" + role.word();
      texts.put(role, token("t-" + role.word(), user, role, 3600));
    }
    site.submit("u-submitter", "mine", "chat", 8, 600, 900);
    site.submit("kim", "theirs", "docking", 8, 600, 900);
    for (int i = 0; i < 4; i++) {
      site.submit("kim", "more", "folding", 8, 600, 900);
    }
    own = site.submit("u-submitter", "waits", "chat", 8, 600, 900);
    foreign = site.submit("kim", "waits too", "docking", 8, 600, 900);
    browser = new Browser("--lang=en");
  }

  @BeforeEach
  void asAStranger() throws Exception {
    browser.open(site.url());
    browser.run("sessionStorage.clear()");
    browser.open(site.url().resolve("?again"));
    awaiting("return !!document.querySelector('dialog')");
    browser.console();
  }

  private String token(String name, String user, Role role, int seconds) {
    return tokens
        .create(
            name,
            user,
            EnumSet.of(role),
            role == Role.SUBMITTER ? List.of("chat") : List.of(),
            Instant.now().plusSeconds(seconds),
            "test")
        .orElseThrow()
        .text();
  }

  private void signIn(String token, String as) throws Exception {
    if (!browser.run("return !!document.querySelector('dialog')").asBoolean()) {
      click("main button", "Sign in");
    }
    type("Token", token);
    click("dialog button[type=submit]", "Sign in");
    awaitText(WHO, as);
    awaiting("return !document.querySelector('dialog') && !!document.querySelector('main .page')");
  }

  private void signOut() throws Exception {
    click(WHO + " button", "Sign out");
    awaitText("main .state", "This service wants to know who you are.");
  }

  /** In the dark and on a narrow screen nothing is cut off. */
  private void onAPhone(String name) throws Exception {
    browser.screen(375, 812, true);
    browser.prefersDark(true);
    assertThat(browser.run("return document.documentElement.scrollWidth - innerWidth").asInt())
        .as(name)
        .isLessThanOrEqualTo(0);
    String outside =
        "return [...document.querySelectorAll('header *, dialog *')].filter((e) => { const r ="
            + " e.getBoundingClientRect(); return r.width > 0 && r.right > innerWidth + 1;"
            + " }).map((e) => e.outerHTML).join(' ')";
    assertThat(browser.run(outside).asString()).as(name).isEmpty();
    picture(name);
    browser.screen(1280, 820, false);
    browser.prefersDark(false);
  }

  /** Whether somebody can press it: that it is there, and not disabled. */
  private boolean can(String selector, String label) throws Exception {
    String script =
        "const e = [...document.querySelectorAll('%s')].find((x) => x.textContent.trim() === '%s');"
            + " return e ? (e.disabled ? e.title : 'yes') : 'missing'";
    String found = browser.run(script.formatted(selector, label)).asString();
    assertThat(found).as(selector + " " + label).matches("yes|Not yours to do|Nobody owns it .*");
    return found.equals("yes");
  }

  private boolean mayCancel(String job) throws Exception {
    go("#/job/" + job);
    awaitText("#cost", "Charged");
    return can(".actions button", "Cancel job");
  }

  @Test
  void aStrangerSeesNothingAndIsToldHowToGetIn() throws Exception {
    browser.open(site.url().resolve("?new"));
    awaitText("dialog", "This service wants to know who you are.");
    picture("page-sign-in");
    onAPhone("page-sign-in-phone");
    click("dialog button", "Cancel");
    awaitText("main .state", "evenhand token create");
    assertThat(browser.run("return document.querySelectorAll('.cell, tbody tr').length").asInt())
        .isZero();
    browser.run("location.hash = '#/queue'");
    awaitText("main .state", "evenhand token create");
    Thread.sleep(2500);
    assertThat(browser.console()).as("nothing is asked that is refused").isEmpty();

    click("main button", "Sign in");
    type("Token", "evh_0123456789_wrong");
    click("dialog button[type=submit]", "Sign in");
    awaitText("dialog .fault", "The token is not known here");
    assertThat(browser.console()).hasSize(1).allMatch(line -> line.contains("401"));
    assertThat(browser.run("return sessionStorage.length").asInt()).isZero();

    // The right one after the wrong one, without reload, on the page that was asked for.
    type("Token", texts.get(Role.AUDITOR));
    click("dialog button[type=submit]", "Sign in");
    awaitText(WHO, "t-auditor");
    awaitText(".queue tbody th", "more");
    awaitText("#tools .live", "live");
    String id = site.submit("kim", "just now", "detection", 8, 600, 60);
    awaitText(".queue tbody th", "just now");
    site.desk().cancel(id, "kim");
    onAPhone("page-signed-in-phone");
    // A token is kept for the tab.
    browser.open(site.url().resolve("?reload"));
    awaitText(WHO, "t-auditor");
    assertThat(text("body")).doesNotContain(texts.get(Role.AUDITOR));
    signOut();
    assertThat(browser.run("return sessionStorage.length").asInt()).isZero();
    Thread.sleep(2500);
    assertThat(browser.console()).isEmpty();
  }

  @Test
  void eachRoleIsOfferedWhatItMayAndNothingElse() throws Exception {
    for (Role role : List.of(Role.SUBMITTER, Role.OWNER, Role.AUDITOR, Role.OPERATOR, Role.ADMIN)) {
      boolean operates = role == Role.OPERATOR || role == Role.ADMIN;
      signIn(texts.get(role), "t-" + role.word());
      awaitText("#tools .live", "live");
      assertThat(mayCancel(own))
          .as("%s, own job", role)
          .isEqualTo(operates || role == Role.SUBMITTER);
      assertThat(mayCancel(foreign)).as("%s, foreign job", role).isEqualTo(operates);
      assertThat(text("#cost").contains("is told to those of its account"))
          .as("%s, ledger of a foreign job", role)
          .isEqualTo(role == Role.SUBMITTER);
      go("#/nodes");
      assertThat(can(".node-line button", "Drain")).as("%s, drain", role).isEqualTo(operates);
      go("#/budgets?account=language");
      awaitText(".detail h2", "language");
      assertThat(can(".detail button", "Change weights below it"))
          .as("%s, weights", role)
          .isEqualTo(role == Role.OWNER || role == Role.ADMIN);
      go("#/budgets?account=biology");
      awaitText(".detail h2", "biology");
      assertThat(can(".detail button", "Change weights below it"))
          .as("%s, weights of others", role)
          .isEqualTo(role == Role.ADMIN);
      go("#/decisions");
      awaitText(".decision-list .said", "");
      browser.run("document.querySelector('.decision-list details').open = true");
      awaitText(".decision-body button", "Decide it again");
      assertThat(can(".decision-body button", "Decide it again"))
          .as("%s, verify", role)
          .isEqualTo(operates || role == Role.AUDITOR);
      for (String page : List.of("now", "queue", "policy", "policy?tab=history")) {
        go("#/" + page);
        assertThat(text("main .state.error")).isEmpty();
      }
      signOut();
      assertThat(browser.console()).as("%s", role).isEmpty();
    }
    // Whoever reads metrics only is told that nothing here is theirs to see.
    signIn(texts.get(Role.METRICS), "t-metrics");
    awaitText("main .state.error", "That is not yours to see.");
    assertThat(browser.console()).isNotEmpty().allMatch(line -> line.contains("403"));
  }

  @Test
  void whoMayActsAndWhoMayNotIsRefusedInWords() throws Exception {
    String job = site.submit("u-submitter", "to cancel", "chat", 8, 600, 900);
    signIn(texts.get(Role.SUBMITTER), "t-submitter");
    go("#/job/" + job);
    click(".actions button", "Cancel job");
    assertThat(text("dialog")).doesNotContain("Your name");
    click("dialog button", "Cancel job");
    awaitText(".story", "cancelled by u-submitter");
    assertThat(site.desk().job(job).state()).isEqualTo(JobState.CANCELLED);
    signOut();

    signIn(texts.get(Role.OWNER), "t-owner");
    go("#/budgets?account=language");
    awaitText(".detail h2", "language");
    click(".detail button", "Change weights below it");
    type("chat", "5");
    type("Reason", "a paper");
    click("dialog button", "Save");
    awaitText(".changes", "ada");
    assertThat(site.context(AccountDesk.class).weights("language").get("chat")).isEqualTo(5);
    signOut();

    signIn(texts.get(Role.OPERATOR), "t-operator");
    go("#/nodes?node=a01");
    click(".node-line button", "Drain");
    type("Reason", "a fan");
    click("dialog button", "Drain");
    awaitText(".node-line", "u-operator");
    click(".node-line button", "Use again");
    click("dialog button", "Use again");
    awaiting("return document.querySelector('.node-line .node-state').textContent === 'up'");
    signOut();
    assertThat(browser.console()).isEmpty();

    // Somebody whose page is older than what they may, or who helps themselves.
    signIn(texts.get(Role.AUDITOR), "t-auditor");
    go("#/nodes?node=a01");
    awaiting( // in one go, before what stands is shown anew
        "const b = [...document.querySelectorAll('.node-line button')].find((x) =>"
            + " x.textContent === 'Drain'); if (b && !document.querySelector('dialog'))"
            + " { b.disabled = false; b.click(); } return !!document.querySelector('dialog')");
    type("Reason", "mine now");
    click("dialog button", "Drain");
    awaitText("dialog .fault", "needs the role operator or admin; t-auditor has auditor.");
    assertThat(browser.console()).hasSize(1).allMatch(line -> line.contains("403"));
  }

  @Test
  void aTokenThatIsRevokedOrExpiresWhileThePageIsOpenEndsIt() throws Exception {
    signIn(token("gone", "u-gone", Role.AUDITOR, 3600), "gone");
    go("#/now");
    awaiting("return document.querySelectorAll('.nodes .cell').length === 32");
    tokens.revoke("gone", "test");
    awaitText("main .state", "The token gone was revoked at");
    awaitText("dialog", "The token gone was revoked at");
    picture("page-revoked");
    assertThat(browser.run("return document.querySelectorAll('.cell').length").asInt()).isZero();
    assertThat(browser.run("return sessionStorage.length").asInt()).isZero();
    assertThat(browser.console()).isNotEmpty().allMatch(line -> line.contains("401"));
    Thread.sleep(2500);
    assertThat(browser.console()).as("it asks no more").isEmpty();

    signIn(token("brief", "u-brief", Role.OPERATOR, 3600), "brief");
    go("#/nodes?node=a01");
    click(".node-line button", "Drain");
    site.sql().sql("update access_tokens set expires_at = now() where name = 'brief'").update();
    awaitText("dialog", "The token brief expired at");
    assertThat(browser.run("return document.querySelectorAll('dialog').length").asInt())
        .isEqualTo(1);
    signIn(texts.get(Role.OPERATOR), "t-operator");
    awaitText(".node-line", "a01");
    assertThat(browser.console()).isNotEmpty().allMatch(line -> line.contains("401"));
  }
}
