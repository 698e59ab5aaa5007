package evenhand.page;

import evenhand.sandbox.Browser;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;
import tools.jackson.databind.JsonNode;

/** What is done with the page in a browser, as a person does it: by what stands on it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class PageInBrowser {
  BusySite site;
  Browser browser;

  @AfterAll
  final void end() throws Exception {
    if (browser != null) {
      browser.close();
    }
    if (site != null) {
      site.close();
    }
  }

  final void go(String hash) throws Exception {
    browser.run("location.hash = '" + hash + "'");
    awaiting(
        "return location.hash === '"
            + hash
            + "' && !!document.querySelector('main .page:not([hidden])')"
            + " && !document.querySelector('.skeleton')");
  }

  final void awaiting(String script) throws Exception {
    for (int i = 0; i < 600; i++) {
      if (browser.run(script).asBoolean()) {
        return;
      }
      Thread.sleep(50);
    }
    throw new AssertionError(
        "never: " + script + "\nThe page: " + text("main") + "\n" + browser.console());
  }

  final String text(String selector) throws Exception {
    JsonNode text =
        browser.run("return (document.querySelector('" + selector + "') || {}).innerText || ''");
    return text.asString();
  }

  final void awaitText(String selector, String words) throws Exception {
    awaiting(
        "return [...document.querySelectorAll('"
            + selector
            + "')].some((e) => e.innerText.includes('"
            + words
            + "'))");
  }

  final void click(String selector, String label) throws Exception {
    awaiting(
        "const e = [...document.querySelectorAll('"
            + selector
            + "')].find((x) => x.textContent.trim() === '"
            + label
            + "'); if (e) e.click(); return !!e");
  }

  final void type(String label, String value) throws Exception {
    awaiting(
        "const l = [...document.querySelectorAll('label')].find((x) => x.textContent === '"
            + label
            + "'); const i = l && document.getElementById(l.htmlFor); if (i) { i.value = '"
            + value
            + "'; i.dispatchEvent(new Event('input', {bubbles: true})); } return !!i");
  }

  final void picture(String name) throws Exception {
    String folder = System.getProperty("evenhand.pictures");
    if (folder != null) {
      Files.createDirectories(Path.of(folder));
      Files.write(Path.of(folder, name + ".png"), browser.picture());
    }
  }
}
