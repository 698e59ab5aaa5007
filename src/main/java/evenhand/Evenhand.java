package evenhand;

/** The one entry point of the jar: {@code java -jar evenhand.jar COMMAND …}. */
public final class Evenhand {
  private Evenhand() {}

  public static void main(String[] arguments) {
    System.exit(2);
  }
}
