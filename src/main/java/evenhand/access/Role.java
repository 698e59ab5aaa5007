package evenhand.access;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** What one may do. Somebody may have several; {@code admin} includes all others. */
public enum Role {
  /** Submits jobs of the own accounts, and cancels the own ones. */
  SUBMITTER("submits jobs of the own accounts, and cancels the own ones"),
  /** Sets weights below the accounts owned in the tree (A2). */
  OWNER("sets weights below the accounts that the tree names them an owner of"),
  /** Drains nodes, cancels any job, runs cycles, changes the policy, the tree and the ledger. */
  OPERATOR("drains nodes, cancels any job, runs cycles, changes policy, accounts and ledger"),
  /** Reads everything, the audit too, and changes nothing. */
  AUDITOR("reads everything, the audit too, and changes nothing"),
  /** Reads the metrics and nothing else: for the program that collects them. */
  METRICS("reads the metrics and nothing else"),
  /** Everything, tokens too. */
  ADMIN("everything, tokens too");

  private final String meaning;

  Role(String meaning) {
    this.meaning = meaning;
  }

  /** As settings, tokens and answers write it. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** What it may do, as the rest of a sentence. */
  public String meaning() {
    return meaning;
  }

  public static Optional<Role> of(String word) {
    return Arrays.stream(values()).filter(r -> r.word().equals(word)).findFirst();
  }

  public static List<String> words() {
    return Arrays.stream(values()).map(Role::word).toList();
  }

  /** {@code operator or admin}. */
  public static String any(Collection<Role> roles) {
    List<String> words = roles.stream().sorted().map(Role::word).toList();
    return words.size() < 2
        ? String.join("", words)
        : words.subList(0, words.size() - 1).stream().collect(Collectors.joining(", "))
            + " or "
            + words.get(words.size() - 1);
  }
}
