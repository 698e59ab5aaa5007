package evenhand.policy;

import evenhand.outcomes.Conclusion;
import java.util.ArrayList;
import java.util.List;
import org.kie.api.runtime.KieSession;
import org.kie.api.runtime.rule.FactHandle;

/**
 * One working memory, for one decision or for one after another, with the policy's settings in it;
 * it is taken when it is first needed. The shell inserts facts and asks stages; what rules insert
 * is recorded in the order in which they fired, with the rule that did. Closing it gives the
 * working memory back.
 */
final class Firing implements AutoCloseable {
  /** More firings in one stage than any sound policy needs; reaching it is an error. */
  static final int MAX_FIRINGS = 50_000;

  private final Sessions sessions;
  private final List<Runnable> beginnings = new ArrayList<>();
  private final List<Object> passing = new ArrayList<>();
  private final List<FactHandle> passingThere = new ArrayList<>();
  private Sessions.Lent lent;
  private KieSession open;
  private boolean failed;
  private final Effort effort = new Effort();
  private final List<Concluded> concluded = new ArrayList<>();

  /** What a rule inserted. */
  record Concluded(Conclusion what, Rule by, FactHandle handle) {}

  Firing(Sessions sessions) {
    this.sessions = sessions;
  }

  /** What is to be done to the working memory before it is used next. */
  void begin(Runnable inserting) {
    beginnings.add(inserting);
  }

  /** A fact of this cycle, there when the working memory is used next, and gone at its end. */
  void passing(Object fact) {
    passing.add(fact);
  }

  /** The cycle ends: its own facts are gone. */
  void endCycle() {
    effort.begin();
    passing.clear();
    passingThere.forEach(this::delete);
    passingThere.clear();
  }

  private KieSession session() {
    if (lent == null) {
      lent = sessions.take();
      open = lent.recording(concluded);
    }
    while (!beginnings.isEmpty()) {
      List<Runnable> due = List.copyOf(beginnings);
      beginnings.clear();
      due.forEach(Runnable::run);
    }
    if (!passing.isEmpty()) {
      for (Object fact : passing) {
        passingThere.add(open.insert(fact));
      }
      passing.clear();
    }
    return open;
  }

  FactHandle insert(Object fact) {
    return session().insert(fact);
  }

  /** All facts of a kind. */
  java.util.Collection<?> facts(Class<?> kind) {
    return session().getObjects(new org.kie.api.runtime.ClassObjectFilter(kind));
  }

  /** Whether this very fact is there. */
  boolean holds(Object fact) {
    return session().getFactHandle(fact) != null;
  }

  void delete(FactHandle handle) {
    open.delete(handle);
  }

  /**
   * Asks one stage.
   *
   * @param about what is being decided, for the message when a rule fails
   * @return what its rules concluded, in firing order; valid until the next call
   */
  List<Concluded> ask(Stage stage, String about) {
    if (!sessions.has(stage)) {
      return List.of();
    }
    int before = concluded.size();
    session().getAgenda().getAgendaGroup(stage.word()).setFocus();
    int fired;
    effort.asking();
    try {
      fired = session().fireAllRules(MAX_FIRINGS);
    } catch (RuntimeException | LinkageError | VirtualMachineError | AssertionError e) {
      // Errors too: a rule may make a text too long for the memory, or nest too deeply.
      failed = true;
      throw Culprit.failure(e, sessions.rules(), stage, about);
    } finally {
      effort.answered();
    }
    if (fired >= MAX_FIRINGS) {
      failed = true;
      Rule last = concluded.isEmpty() ? null : concluded.get(concluded.size() - 1).by();
      throw new RuleFailed(
          "the rules of stage \""
              + stage.word()
              + "\" do not come to an end for "
              + about
              + (last == null ? "" : "; the last was " + last.name() + " in " + last.file()),
          null,
          last);
    }
    return concluded.subList(before, concluded.size());
  }

  /** Forgets what was concluded since {@code mark}: the next turn starts clean. */
  void forget(int mark) {
    for (int i = concluded.size() - 1; i >= mark; i--) {
      open.delete(concluded.remove(i).handle());
    }
  }

  /** Where the record of conclusions stands now. */
  int mark() {
    return concluded.size();
  }

  /** Keeps in the working memory what was concluded so far, and takes it off the record. */
  void keep() {
    concluded.clear();
  }

  @Override
  public void close() {
    if (lent != null) {
      lent.giveBack(!failed);
    }
  }
}
