package evenhand.cli;

import picocli.CommandLine.IVersionProvider;

/** The version of this build, as the jar's manifest has it. */
public final class Version implements IVersionProvider {
  private static final String UNPACKED = "(not built as a jar)";

  @Override
  public String[] getVersion() {
    return new String[] {"evenhand " + text()};
  }

  /** E.g. {@code 0.1.0}. */
  public static String text() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? UNPACKED : version;
  }
}
