package evenhand.cycle;

import java.time.Instant;

/**
 * Something to be done outside, written down in the transaction that decided it and carried out
 * after: a row of the outbox.
 *
 * @param id 0 before it is stored; then in the order of writing
 * @param node with {@code tier} and {@code gpus}: what a YIELD tells the router; null and 0 else
 * @param tries how often carrying it out was begun; counted up before it is
 * @param inDoubt whether it may have been carried out already: set when it is begun, and cleared by
 *     an answer that says for certain that it was not
 * @param nextTryAt not before
 * @param triedAt when it was last begun, null before
 * @param answer what came of it so far, in words; null before
 * @param closedAt when it was done with, null while open
 */
public record Order(
    long id,
    Kind kind,
    Token token,
    String node,
    String tier,
    int gpus,
    Instant createdAt,
    int tries,
    boolean inDoubt,
    Instant nextTryAt,
    Instant triedAt,
    String answer,
    Instant closedAt) {

  /** In the order in which they are carried out. */
  public enum Kind {
    YIELD,
    /** Tells a job that it has to leave, so that it can save its work (K6). */
    SIGNAL,
    SUBMIT,
    CANCEL
  }

  public static Order yield(Token token, String node, String tier, int gpus, Instant at) {
    return new Order(0, Kind.YIELD, token, node, tier, gpus, at, 0, false, at, null, null, null);
  }

  public static Order submit(Token token, Instant at) {
    return new Order(0, Kind.SUBMIT, token, null, null, 0, at, 0, false, at, null, null, null);
  }

  public static Order cancel(Token token, Instant at) {
    return new Order(0, Kind.CANCEL, token, null, null, 0, at, 0, false, at, null, null, null);
  }

  /** Due when the grace time is over (K6). */
  public static Order cancelAfter(Token token, Instant at, Instant due) {
    return new Order(
        0, Kind.CANCEL, token, null, null, 0, at, 0, false, due, null, "in its grace time", null);
  }

  public static Order signal(Token token, Instant at) {
    return new Order(0, Kind.SIGNAL, token, null, null, 0, at, 0, false, at, null, null, null);
  }

  /**
   * Begun once more at {@code at}; should no answer be recorded, looked at again at {@code next}.
   */
  public Order begun(Instant at, Instant next) {
    return with(tries + 1, true, next, at, "begun, no answer yet", null);
  }

  /** Still open, to be looked at again at {@code next}. */
  public Order later(Instant next, boolean mayBeDone, String because) {
    return with(tries, mayBeDone, next, triedAt, because, null);
  }

  public Order closed(Instant at, String because) {
    return with(tries, false, nextTryAt, triedAt, because, at);
  }

  /** The same order as a store keeps it. */
  public Order numbered(long number) {
    return new Order(
        number, kind, token, node, tier, gpus, createdAt, tries, inDoubt, nextTryAt, triedAt,
        answer, closedAt);
  }

  private Order with(
      int tries,
      boolean inDoubt,
      Instant nextTryAt,
      Instant triedAt,
      String answer,
      Instant closedAt) {
    return new Order(
        id, kind, token, node, tier, gpus, createdAt, tries, inDoubt, nextTryAt, triedAt, answer,
        closedAt);
  }
}
