package evenhand.api;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.TransientDataAccessException;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionSystemException;

/** Tells a database that cannot be reached from other failures, and says so in a sentence. */
public final class DatabaseAway {
  private static final int DEEPEST = 20;

  private DatabaseAway() {}

  /** Connection refused, lost, shut down, or none left in the pool. */
  public static boolean is(Throwable e) {
    Throwable at = e;
    for (int depth = 0; at != null && depth < DEEPEST; depth++, at = at.getCause()) {
      if (at instanceof DataAccessResourceFailureException
          || at instanceof TransientDataAccessException
          || at instanceof CannotCreateTransactionException
          || at instanceof TransactionSystemException) { // lost while committing
        return true;
      }
    }
    return false;
  }

  /** What is wrong with the database, for people: no class names, no pool's figures, one line. */
  public static String sentence(Throwable e) {
    String why = "";
    Throwable at = e;
    for (int depth = 0; at != null && depth < DEEPEST; depth++, at = at.getCause()) {
      if (at.getMessage() != null) { // the innermost says it, those around it what was meant
        why = at.getMessage().strip().lines().findFirst().orElse("");
      }
    }
    boolean ofPool = why.isEmpty() || why.contains("Connection is not available");
    return "the database cannot be reached: "
        + (ofPool ? "it did not answer in time" : why.replaceFirst("[.\\s]+$", ""));
  }
}
