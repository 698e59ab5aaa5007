package evenhand.page;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.cycle.Contract;
import evenhand.sandbox.Browser;
import evenhand.sandbox.NeedsReal;
import evenhand.sandbox.RealParts;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The page over 1,024 GPUs on 128 nodes. The queue is short in a usual run, for {@link PageTest}
 * has a long one; {@code -Devenhand.page.queue=10500} for both.
 */
@NeedsReal(RealParts.BROWSER)
class LargeSiteTest extends PageInBrowser {
  private static final int NODES = 128;
  private static final int QUEUE = Integer.getInteger("evenhand.page.queue", 400);

  @Test
  void everyGpuIsACellThatCanBeToldApartOnALaptopAndAPhone(@TempDir Path folder) throws Exception {
    site = new BusySite(folder, NODES);
    browser = new Browser("--lang=en");
    site.week();
    site.work(170, "h50");
    site.queue(QUEUE);
    for (boolean phone : List.of(false, true)) {
      browser.screen(phone ? 375 : 1280, phone ? 812 : 900, phone);
      browser.prefersDark(phone);
      browser.open(site.url());
      go("#/now");
      awaiting("return document.querySelectorAll('.nodes .cell').length === 8 * " + NODES);
      awaiting("return document.querySelectorAll('.cell.job').length > 400");
      String smallest =
          "return Math.min(...[...document.querySelectorAll('.nodes .cell')].map((c) =>"
              + " Math.min(c.getBoundingClientRect().width, c.getBoundingClientRect().height)))";
      assertThat(browser.run(smallest).asDouble())
          .as("pixels of the smallest cell, phone: %s", phone)
          .isGreaterThanOrEqualTo(7);
      String cut =
          "return [...document.querySelectorAll('.node-name')].filter((e) =>"
              + " e.scrollWidth > e.clientWidth + 1).length";
      assertThat(browser.run(cut).asInt()).as("names that are cut off").isZero();
      assertThat(browser.run("return document.documentElement.scrollWidth - innerWidth").asInt())
          .isLessThanOrEqualTo(0);
      picture(phone ? "large-phone" : "large-laptop");
      go("#/nodes");
      awaitText(".bar .count", Integer.toString(NODES));
      go("#/queue");
      awaiting(
          "const of = document.querySelector('.bar .count')?.textContent.match(/of ([0-9,]+)/);"
              + " return !!of && Number(of[1].replaceAll(',', '')) > "
              + QUEUE / 4);
    }
    // What happens is still shown: a node that is drained, while all cells stay where they are.
    browser.screen(1280, 900, false);
    browser.prefersDark(false);
    go("#/now");
    browser.run("window.first = document.querySelector('.node[data-node=h40] .cell')");
    site.context(Contract.class).drain("h40", "a fan", "ann");
    awaitText(".node[data-node=h40]", "draining");
    assertThat(
            browser
                .run("return window.first === document.querySelector('.node[data-node=h40] .cell')")
                .asBoolean())
        .isTrue();
    assertThat(browser.console()).isEmpty();
  }
}
