package evenhand.simulator;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;

/**
 * The report of a simulation: one page with everything in it, which opens without a network. The
 * page's parts are resources; its data is JSON in a script element that is never run, in which no
 * text of a user can end that element.
 */
public final class ReportPage {
  private static final String FOLDER = "/report/";

  private ReportPage() {}

  /**
   * The page.
   *
   * @param played at least one play, all of the same job set on the same cluster
   * @param sweep what settings came to, or null where nothing was swept
   */
  public static String html(List<Played> played, Map<String, Object> sweep) {
    String data = new JsonMapper().writeValueAsString(ReportData.of(played, sweep));
    String page = part("page.html");
    page = fill(page, "style", part("report.css"));
    page = fill(page, "echarts", part("echarts.common.min.js"));
    page =
        fill(
            page,
            "script",
            part("words.js") + part("headline.js") + part("gantt.js") + part("charts.js"));
    // Last, so that no text of a user is taken for a hole.
    return fill(page, "data", inScript(data));
  }

  /** JSON that may stand in a script element: no {@code <} can begin a tag there. */
  static String inScript(String json) {
    return json.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029");
  }

  private static String fill(String page, String name, String text) {
    String hole = "{{" + name + "}}";
    int at = page.indexOf(hole);
    return page.substring(0, at) + text + page.substring(at + hole.length());
  }

  private static String part(String name) {
    try (InputStream in = ReportPage.class.getResourceAsStream(FOLDER + name)) {
      if (in == null) {
        throw new IllegalStateException("the report's part " + name + " is not in the jar");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
