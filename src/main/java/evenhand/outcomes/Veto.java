package evenhand.outcomes;

/**
 * The job whose turn it is may not do something this time: {@code "start"}, {@code "reserve"} or
 * {@code "claim"}.
 *
 * @param why in words, for people
 */
public record Veto(String what, String why) implements Conclusion {
  public static final String START = "start";
  public static final String RESERVE = "reserve";
  public static final String CLAIM = "claim";
}
