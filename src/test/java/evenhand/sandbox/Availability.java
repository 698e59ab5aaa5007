package evenhand.sandbox;

/**
 * Whether a real part can be used on this machine and, where it can't, one sentence for the person
 * who reads the test report: what is missing and the command that would mend it.
 */
public record Availability(boolean present, String sentence) {

  static Availability here(String what) {
    return new Availability(true, what + " is available.");
  }

  static Availability missing(String sentence) {
    return new Availability(false, sentence);
  }
}
