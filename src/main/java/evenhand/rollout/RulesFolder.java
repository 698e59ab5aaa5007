package evenhand.rollout;

import evenhand.check.Check;
import evenhand.facts.Snapshot;
import evenhand.input.InputFault;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.policy.RuleFailed;
import evenhand.policy.RuleFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The rules at hand: a folder that people edit, or the copy in the jar. */
public final class RulesFolder {
  private static final Path SCENARIOS = Path.of("fixtures", "scenarios");

  private final RuleFiles files;
  private final boolean scenarios;

  /**
   * @param scenarios whether a policy must pass those that are about it
   */
  public RulesFolder(RuleFiles files, boolean scenarios) {
    this.files = files;
    this.scenarios = scenarios;
  }

  /** Where that is, for people. */
  String where() {
    return files.where();
  }

  /** A file beside the rules that is no rule itself; empty when there is none. */
  Optional<String> read(String path) throws PolicyFault {
    return files.read(path);
  }

  /** Whether the folder is there at all; the copy in the jar always is. */
  boolean isThere() {
    return !(files instanceof RuleFiles.Folder at) || Files.isDirectory(at.folder());
  }

  /** All rules as they are at this moment. */
  RuleFiles copy() throws PolicyFault {
    return files.copy();
  }

  /**
   * Changes whenever a rule, a policy or a scenario does. What editors leave beside their files
   * (locks, copies, half-written new versions under another name) changes nothing.
   *
   * @throws IOException when the folder is gone, or was changed while it was read
   */
  String fingerprint() throws IOException {
    if (!(files instanceof RuleFiles.Folder at)) {
      return "";
    }
    Map<String, byte[]> seen = new TreeMap<>();
    for (Path file : at.files(".drl", ".yaml")) {
      // One that is too long to be read as rules, or may not be read, is not read here either.
      boolean read = Files.isReadable(file) && Files.size(file) <= RuleFiles.MAX_BYTES;
      seen.put(file.toString(), read ? Files.readAllBytes(file) : stamp(file));
    }
    if (scenarios && Files.isDirectory(SCENARIOS)) {
      for (Path file : new RuleFiles.Folder(SCENARIOS).files(".yaml", ".yml")) {
        seen.put(file.toString(), stamp(file));
      }
    }
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      seen.forEach(
          (path, bytes) -> {
            digest.update((path + "\n" + bytes.length + "\n").getBytes());
            digest.update(bytes);
          });
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  private static byte[] stamp(Path file) throws IOException {
    return (Files.size(file) + " " + Files.getLastModifiedTime(file)).getBytes();
  }

  /**
   * A policy that may be put in force: it loads, and the scenarios that are about it go as written.
   * What is set for once beside its text must be right as well; scenarios say what the text does,
   * and are run without it.
   *
   * @throws PolicyFault with every fault found, whatever is wrong with the rules
   */
  Policy passed(RuleFiles from, String name, Map<String, String> settings) throws PolicyFault {
    return guarded(
        () -> {
          if (!scenarios) {
            return Policies.load(from, name, settings);
          }
          Policy plain = new Check(from).passed(name, Optional.empty());
          return settings.isEmpty() ? plain : Policies.load(from, name, settings);
        });
  }

  /** A policy that loads, whatever scenarios say of it: one that is only to be compared. */
  Policy loads(RuleFiles from, String name) throws PolicyFault {
    return guarded(() -> Policies.load(from, name, Map.of()));
  }

  /** Lets a policy decide on a snapshot, and does nothing with it. */
  void decides(Policy policy, Snapshot snapshot) throws PolicyFault {
    guarded(() -> policy.decide(snapshot));
  }

  /** A policy as it is kept, warmed up by its scenarios: it passed them when it was planned. */
  Loaded kept(Map<String, String> texts) throws PolicyFault {
    return guarded(
        () -> {
          if (!scenarios) {
            return new Loaded(Policies.stored(texts), List.of());
          }
          RuleFiles stored = new RuleFiles.Stored(texts);
          Check check = new Check(stored);
          String name = String.join("", stored.policies());
          Policy plain = check.loaded(name);
          List<PolicyFault.Fault> differs = check.failing(name, Optional.empty());
          return new Loaded(
              Policies.set(texts).isEmpty() ? plain : Policies.stored(texts), differs);
        });
  }

  /**
   * @param differs in what the scenarios of today differ from what it does
   */
  record Loaded(Policy policy, List<PolicyFault.Fault> differs) {}

  private interface Work<T> {
    T done() throws PolicyFault;
  }

  /** Whatever goes wrong with rules that somebody wrote is their fault and nobody else's. */
  private static <T> T guarded(Work<T> work) throws PolicyFault {
    try {
      return work.done();
    } catch (InputFault | RuleFailed e) {
      throw new PolicyFault(new PolicyFault.Fault("rules", 0, null, e.getMessage()));
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      throw new PolicyFault(
          new PolicyFault.Fault(
              "rules", 0, null, "cannot be checked: they make the check fail: " + e));
    }
  }

  /** Sets some of what is set for once anew; an empty value takes it back. */
  static Map<String, String> set(Map<String, String> before, Map<String, String> anew) {
    Map<String, String> all = new LinkedHashMap<>(before);
    anew.forEach(
        (name, value) -> {
          if (value.isEmpty()) {
            all.remove(name);
          } else {
            all.put(name, value);
          }
        });
    return all;
  }
}
