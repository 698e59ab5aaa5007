package evenhand.cycle;

import java.time.Instant;

/**
 * Something to be done outside, written down in the transaction that decided it and carried out
 * after: a row of the outbox.
 *
 * @param id 0 before it is stored; then in the order of writing
 * @param node with {@code tier} and {@code gpus}: what a YIELD tells the router; null and 0 else
 * @param tries how often carrying it out was begun; counted up before, so that an order found open
 *     with tries above 0 may have been carried out already
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
    Instant nextTryAt,
    Instant triedAt,
    String answer,
    Instant closedAt) {

  /** In the order in which they are carried out. */
  public enum Kind {
    YIELD,
    SUBMIT,
    CANCEL
  }

  public static Order yield(Token token, String node, String tier, int gpus, Instant at) {
    return new Order(0, Kind.YIELD, token, node, tier, gpus, at, 0, at, null, null, null);
  }

  public static Order submit(Token token, Instant at) {
    return new Order(0, Kind.SUBMIT, token, null, null, 0, at, 0, at, null, null, null);
  }

  public static Order cancel(Token token, Instant at) {
    return new Order(0, Kind.CANCEL, token, null, null, 0, at, 0, at, null, null, null);
  }

  /** Begun once more at {@code at}. */
  public Order begun(Instant at) {
    return new Order(
        id, kind, token, node, tier, gpus, createdAt, tries + 1, nextTryAt, at, answer, null);
  }

  /** Still open; to be looked at again at {@code next}. */
  public Order later(Instant next, String because) {
    return new Order(
        id, kind, token, node, tier, gpus, createdAt, tries, next, triedAt, because, null);
  }

  public Order closed(Instant at, String because) {
    return new Order(
        id, kind, token, node, tier, gpus, createdAt, tries, nextTryAt, triedAt, because, at);
  }
}
