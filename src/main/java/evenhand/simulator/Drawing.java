package evenhand.simulator;

/**
 * What pictures are drawn on; lengths in pixels from the upper left corner, colours {@code
 * 0xRRGGBB}.
 */
interface Drawing {
  /** A rectangle of single pixels, row by row. */
  void cells(int x, int y, int width, int height, int[] colours);

  void box(double x, double y, double width, double height, int colour);

  /**
   * A line through points.
   *
   * @param dash lengths of strokes and gaps in turn; none for a solid line
   */
  void line(double[] xs, double[] ys, int colour, double width, double... dash);

  /** Where a text stands by its point. */
  enum Anchor {
    START,
    MIDDLE,
    END
  }

  /** Words on a line whose foot is at {@code y}. */
  void text(double x, double y, int size, Anchor anchor, boolean bold, int colour, String words);

  /** About how wide words are; the same for every kind of file, so that all look alike. */
  static double width(String words, int size) {
    return words.codePointCount(0, words.length()) * size * 0.58;
  }
}
