package evenhand.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** A copy of the project's rules, for a test to edit. */
public record EditedRules(Path folder) {

  /** Copies them all into a folder, made where it is not there. */
  public static EditedRules in(Path folder) throws IOException {
    Path from = Path.of("rules");
    try (Stream<Path> all = Files.walk(from)) {
      for (Path p : all.toList()) {
        Path to = folder.resolve(from.relativize(p).toString());
        if (Files.isDirectory(p)) {
          Files.createDirectories(to);
        } else {
          Files.copy(p, to);
        }
      }
    }
    return new EditedRules(folder);
  }

  /** Puts other words in place of some that must be there. */
  public EditedRules edit(String file, String old, String changed) throws IOException {
    Path path = folder.resolve(file);
    String text = Files.readString(path);
    assertThat(text).contains(old);
    Files.writeString(path, text.replace(old, changed));
    return this;
  }
}
