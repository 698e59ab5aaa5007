package evenhand.simulator;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.Path2D;
import java.awt.geom.Rectangle2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import javax.imageio.ImageIO;

/** A picture as PNG, drawn by Java itself; needs a font on the machine. */
final class PngDrawing implements Drawing {
  /** There is nothing on this machine that letters could be drawn with. */
  static final class NoFonts extends Exception {
    private static final long serialVersionUID = 1L;

    NoFonts(Throwable cause) {
      super(
          "Java finds no font on this machine, or no library to draw it with; on Debian: apt-get"
              + " install fontconfig fonts-dejavu-core libfreetype6",
          cause);
    }
  }

  private final BufferedImage image;
  private final Graphics2D graphics;

  /**
   * @throws NoFonts when letters cannot be drawn here
   */
  PngDrawing(int width, int height) throws NoFonts {
    System.setProperty("java.awt.headless", "true");
    try {
      image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
      graphics = image.createGraphics();
      graphics.setFont(new Font(Font.SANS_SERIF, Font.PLAIN, 12));
      if (graphics.getFontMetrics().stringWidth("evenhand") <= 0) {
        throw new NoFonts(null);
      }
    } catch (LinkageError | InternalError | RuntimeException e) {
      // Where a Java without fonts fails differs from version to version; all of it means this.
      throw new NoFonts(e);
    }
    graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
    graphics.setRenderingHint(
        RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
    graphics.setRenderingHint(RenderingHints.KEY_STROKE_CONTROL, RenderingHints.VALUE_STROKE_PURE);
    graphics.setColor(Color.WHITE);
    graphics.fillRect(0, 0, width, height);
  }

  /** The whole file. */
  byte[] png() {
    graphics.dispose();
    ImageIO.setUseCache(false);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      ImageIO.write(image, "png", bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  @Override
  public void cells(int x, int y, int width, int height, int[] colours) {
    image.setRGB(x, y, width, height, colours, 0, width);
  }

  @Override
  public void box(double x, double y, double width, double height, int colour) {
    graphics.setColor(new Color(colour));
    graphics.fill(new Rectangle2D.Double(x, y, width, height));
  }

  @Override
  public void line(double[] xs, double[] ys, int colour, double width, double... dash) {
    if (xs.length == 0) {
      return;
    }
    Path2D path = new Path2D.Double();
    path.moveTo(xs[0], ys[0]);
    for (int i = 1; i < xs.length; i++) {
      path.lineTo(xs[i], ys[i]);
    }
    float[] dashes = null;
    if (dash.length > 0) {
      dashes = new float[dash.length];
      for (int i = 0; i < dash.length; i++) {
        dashes[i] = (float) dash[i];
      }
    }
    graphics.setColor(new Color(colour));
    graphics.setStroke(
        new BasicStroke((float) width, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 1, dashes, 0));
    graphics.draw(path);
  }

  @Override
  public void text(
      double x, double y, int size, Anchor anchor, boolean bold, int colour, String words) {
    graphics.setColor(new Color(colour));
    graphics.setFont(new Font(Font.SANS_SERIF, bold ? Font.BOLD : Font.PLAIN, size));
    double wide = graphics.getFontMetrics().stringWidth(words);
    double left =
        switch (anchor) {
          case START -> x;
          case MIDDLE -> x - wide / 2;
          case END -> x - wide;
        };
    graphics.drawString(words, (float) left, (float) y);
  }
}
