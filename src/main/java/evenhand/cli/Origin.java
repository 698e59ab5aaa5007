package evenhand.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Where a generated job set comes from: a small file beside it. It counts only for the very text it
 * was written with, so that a job set that was edited since has no seed.
 */
final class Origin {
  static final String FILE = "origin.json";

  private Origin() {}

  static String text(String workload, long seed, int jobs, String csv) {
    Map<String, Object> o = new LinkedHashMap<>();
    Path name = Path.of(workload).getFileName();
    o.put("workload", name == null ? workload : name.toString());
    o.put("seed", seed);
    o.put("jobs", jobs);
    o.put("jobs_csv", hash(csv));
    return new JsonMapper().writerWithDefaultPrettyPrinter().writeValueAsString(o) + "\n";
  }

  /** The seed, or null where the file is not about this text, or is none of ours. */
  static Long seed(Path file, String csv) {
    try {
      JsonNode o = new JsonMapper().readTree(Files.readString(file));
      boolean same = o.path("jobs_csv").asString("").equals(hash(csv));
      return same && o.path("seed").isIntegralNumber() ? o.path("seed").asLong() : null;
    } catch (IOException | JacksonException e) {
      return null;
    }
  }

  private static String hash(String text) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return "sha256:" + HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
