package evenhand.simulator;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** A picture as SVG text. Pixels of one colour are merged to rectangles, and those to one path. */
final class SvgDrawing implements Drawing {
  private final int width;
  private final int height;
  private final StringBuilder body = new StringBuilder();

  SvgDrawing(int width, int height) {
    this.width = width;
    this.height = height;
  }

  /** The whole file. */
  String svg(String title) {
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\""
        + width
        + "\" height=\""
        + height
        + "\" viewBox=\"0 0 "
        + width
        + " "
        + height
        + "\" role=\"img\" font-family=\"system-ui, 'Liberation Sans', 'DejaVu Sans',"
        + " sans-serif\">\n<title>"
        + escaped(title)
        + "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        + body
        + "</svg>\n";
  }

  private static String colour(int rgb) {
    return String.format("#%06x", rgb & 0xffffff);
  }

  /** At most two decimals. */
  private static String number(double x) {
    long hundredths = Math.round(x * 100);
    return hundredths % 100 == 0
        ? Long.toString(hundredths / 100)
        : String.format(Locale.ROOT, "%.2f", hundredths / 100.0);
  }

  /**
   * Text that XML can hold: its own marks are written as words, what it cannot hold is left out.
   */
  static String escaped(String text) {
    StringBuilder safe = new StringBuilder(text.length());
    text.codePoints()
        .forEach(
            c -> {
              switch (c) {
                case '<' -> safe.append("&lt;");
                case '>' -> safe.append("&gt;");
                case '&' -> safe.append("&amp;");
                case '"' -> safe.append("&quot;");
                default -> {
                  boolean control =
                      c < 0x20 || c >= 0xD800 && c <= 0xDFFF || (c & 0xFFFE) == 0xFFFE;
                  if (!control) {
                    safe.appendCodePoint(c);
                  }
                }
              }
            });
    return safe.toString();
  }

  @Override
  public void cells(int x, int y, int w, int h, int[] colours) {
    Map<Integer, StringBuilder> paths = new TreeMap<>();
    boolean[] done = new boolean[colours.length];
    for (int row = 0; row < h; row++) {
      for (int column = 0; column < w; column++) {
        int at = row * w + column;
        if (done[at]) {
          continue;
        }
        int colour = colours[at];
        int end = column + 1;
        while (end < w && !done[row * w + end] && colours[row * w + end] == colour) {
          end++;
        }
        int foot = row + 1;
        while (foot < h && alike(colours, done, foot * w + column, end - column, colour)) {
          foot++;
        }
        for (int i = row; i < foot; i++) {
          java.util.Arrays.fill(done, i * w + column, i * w + end, true);
        }
        StringBuilder path = paths.computeIfAbsent(colour, c -> new StringBuilder());
        path.append('M').append(x + column).append(' ').append(y + row);
        path.append('h').append(end - column).append('v').append(foot - row);
        path.append('h').append(column - end).append('z');
      }
    }
    paths.forEach(
        (colour, path) ->
            body.append("<path shape-rendering=\"crispEdges\" fill=\"")
                .append(colour(colour))
                .append("\" d=\"")
                .append(path)
                .append("\"/>\n"));
  }

  private static boolean alike(int[] colours, boolean[] done, int from, int length, int colour) {
    for (int i = from; i < from + length; i++) {
      if (done[i] || colours[i] != colour) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void box(double x, double y, double w, double h, int colour) {
    body.append("<rect x=\"").append(number(x)).append("\" y=\"").append(number(y));
    body.append("\" width=\"").append(number(w)).append("\" height=\"").append(number(h));
    body.append("\" fill=\"").append(colour(colour)).append("\"/>\n");
  }

  @Override
  public void line(double[] xs, double[] ys, int colour, double width, double... dash) {
    body.append("<polyline fill=\"none\" stroke=\"").append(colour(colour));
    body.append("\" stroke-width=\"").append(number(width)).append('"');
    if (dash.length > 0) {
      body.append(" stroke-dasharray=\"");
      for (int i = 0; i < dash.length; i++) {
        body.append(i == 0 ? "" : " ").append(number(dash[i]));
      }
      body.append('"');
    }
    body.append(" points=\"");
    for (int i = 0; i < xs.length; i++) {
      body.append(i == 0 ? "" : " ").append(number(xs[i])).append(',').append(number(ys[i]));
    }
    body.append("\"/>\n");
  }

  @Override
  public void text(
      double x, double y, int size, Anchor anchor, boolean bold, int colour, String words) {
    body.append("<text x=\"").append(number(x)).append("\" y=\"").append(number(y));
    body.append("\" font-size=\"").append(size).append('"');
    if (anchor != Anchor.START) {
      body.append(" text-anchor=\"").append(anchor.name().toLowerCase(Locale.ROOT)).append('"');
    }
    body.append(bold ? " font-weight=\"600\"" : "");
    body.append(" fill=\"").append(colour(colour)).append("\">");
    body.append(escaped(words)).append("</text>\n");
  }
}
