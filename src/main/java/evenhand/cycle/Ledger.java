package evenhand.cycle;

import evenhand.cycle.Desk.Page;
import evenhand.cycle.Desk.Refused;
import evenhand.facts.Cost;
import evenhand.facts.NodeState;
import evenhand.facts.Reservation;
import evenhand.facts.Share;
import evenhand.outcomes.HoldingCost;
import java.math.BigDecimal;
import java.math.MathContext;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;

/**
 * Questions about the ledger: its rows, their sums, whether it adds up; and corrections of it.
 *
 * <p>Every GPU-second of a placement has one owner ({@link Owner}). What jobs of ours hold comes
 * from events and is exact; what is left of the placement's capacity is idle, draining or down, or
 * in use by jobs that are not ours, as far as readings tell.
 */
public final class Ledger {
  /** More lines than anybody reads; a question for more is refused. */
  static final int MOST_LINES = 100_000;

  private static final int MOST_A_PAGE = 1000;

  private final Store store;
  private final CycleSettings settings;
  private final Clock clock;

  public Ledger(Store store, CycleSettings settings, Clock clock) {
    this.store = store;
    this.settings = settings;
    this.clock = clock;
  }

  /**
   * Who a GPU-second belongs to; the last two are no GPU time, but move an account's usage. {@link
   * #IDLE} are also the moments between a decision and its start in Slurm, and between an end in
   * Slurm and the cycle that sees it. {@link #OUTSIDE} is sampled, never charged. Where a job still
   * holds GPUs of a placement that has lost them, or two clocks differ, more is held than there is:
   * {@link #BEYOND} says how much, and is to be taken off.
   */
  public enum Owner {
    RUN,
    UNALLOCATED,
    RESERVED,
    OUTSIDE,
    IDLE,
    DRAINING,
    DOWN,
    BEYOND,
    OPENING,
    CORRECTION;

    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** What sums may be taken by. */
  public enum By {
    ACCOUNT,
    JOB,
    KIND,
    PLACEMENT,
    TIER,
    HOUR,
    DAY;

    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    public static List<String> words() {
      return Arrays.stream(values()).map(By::word).toList();
    }
  }

  /**
   * A line of sums.
   *
   * @param group what it is the sum of, by what was asked for; a part that does not apply (an idle
   *     GPU has no account) is null
   * @param gpuSeconds exact
   * @param chargedTflopSeconds what of it was added to an account's usage
   */
  public record Line(
      Map<By, String> group,
      BigDecimal gpuSeconds,
      BigDecimal tflopSeconds,
      BigDecimal chargedTflopSeconds) {}

  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MICROS);
  }

  /** Rows as they were written, newest first. What runs at the moment has no row yet. */
  public Page<Store.LedgerRow> rows(Store.LedgerFilter filter, int limit, String cursor) {
    check(filter);
    int most = Math.min(limit, MOST_A_PAGE);
    List<Store.LedgerRow> read = store.ledger(filter, most + 1, FrontDesk.before(cursor));
    return FrontDesk.part(read, most, row -> Long.toString(row.id()));
  }

  private static void check(Store.LedgerFilter filter) {
    if (filter.from() != null && filter.to() != null && !filter.from().isBefore(filter.to())) {
      throw new Refused("INVALID_REQUEST", "from", null, "from must be before to");
    }
  }

  /**
   * Sums of GPU time and cost, of rows and of what is held at this moment: a job that runs counts
   * up to now, and is charged when it ends. Rows are cut at {@code from} and {@code to} to the
   * microsecond. With no account, job or kind asked for, the lines of a placement add up to its
   * capacity x time.
   *
   * @throws Refused when that would be more lines than anybody reads
   */
  public List<Line> sums(Store.LedgerFilter filter, Set<By> by) {
    check(filter);
    return store.books(books -> new Sums(books, filter, by, now()).lines());
  }

  /** Whether everything adds up; see {@link LedgerCheck}. */
  public LedgerCheck.Result verify() {
    return store.books(books -> new LedgerCheck(books, now(), settings.slack()).run());
  }

  /**
   * Moves an account's usage by a new row; what it puts right stays as it is. The window of charged
   * usage (A3), which counts GPU-seconds of runs, does not change by it.
   *
   * @param tflopSeconds may be negative
   * @param key null, or the client's idempotency key
   */
  public Books.Correction correct(
      String account, double tflopSeconds, String reason, String by, String key) {
    if (!Double.isFinite(tflopSeconds) || tflopSeconds == 0) {
      throw new Refused("INVALID_REQUEST", "tflop_s", null, "tflop_s is a number other than 0");
    }
    Books.Correction asked =
        new Books.Correction(
            0, now(), Books.Correction.CORRECTION, account, tflopSeconds, reason, by, key);
    Books.Correction made =
        store
            .correct(asked)
            .orElseThrow(
                () ->
                    store.load(null).accounts().stream()
                        .filter(a -> a.id().equals(account))
                        .findFirst()
                        .map(
                            a ->
                                new Refused(
                                    "INVALID_REQUEST",
                                    "tflop_s",
                                    null,
                                    "account "
                                        + account
                                        + " has used "
                                        + BigDecimal.valueOf(a.cumulativeUsage()).toPlainString()
                                        + " TFLOP-s; no more than that can be taken off"))
                        .orElseGet(
                            () ->
                                new Refused(
                                    "NOT_FOUND",
                                    "account",
                                    null,
                                    "there is no account " + account)));
    if (!made.account().equals(account)
        || made.tflopSeconds() != tflopSeconds
        || !made.reason().equals(reason)) {
      throw new Refused(
          "IDEMPOTENCY_CONFLICT",
          "Idempotency-Key",
          null,
          "the key was used before for another correction, number " + made.id());
    }
    return made;
  }

  /** What is held and has no row yet: runs since their start, reservations since last accrued. */
  static List<Store.LedgerRow> open(Books books, List<StoredJob> jobs, Instant now) {
    List<Store.LedgerRow> open = new ArrayList<>();
    for (Attempt attempt : books.running()) {
      if (attempt.startedAt() != null) {
        for (Share share : attempt.on()) {
          open.add(
              open(
                  attempt.allocated() ? HoldingCost.RUN : HoldingCost.UNALLOCATED,
                  attempt.job(),
                  attempt.attempt(),
                  attempt.account(),
                  share,
                  attempt.decidedAt(),
                  attempt.startedAt(),
                  now));
        }
      }
    }
    for (StoredJob job : jobs) {
      Reservation held = job.reservation();
      if (held != null) {
        open.add(
            open(
                HoldingCost.RESERVED,
                job.id(),
                job.asks().attempt(),
                job.asks().account(),
                new Share(held.node(), held.tier(), held.gpus()),
                held.accruedAt(),
                held.accruedAt(),
                now));
      }
    }
    return open;
  }

  private static Store.LedgerRow open(
      String kind,
      long job,
      int attempt,
      String account,
      Share share,
      Instant given,
      Instant from,
      Instant now) {
    Instant to = now.isBefore(from) ? from : now;
    double price = share.tier().tflops();
    return new Store.LedgerRow(
        0,
        kind,
        job,
        attempt,
        account,
        share.node(),
        share.tier().name(),
        share.gpus(),
        given,
        from,
        to,
        Cost.tflopSeconds(share.gpus(), from, to, price),
        price,
        null,
        null,
        1);
  }

  /**
   * Hands over what was held of each placement, one placement after another; those of which nothing
   * was held are not among them.
   *
   * @param open what has no row yet
   */
  static void byPlacement(
      Books books,
      Store.LedgerFilter filter,
      List<Store.LedgerRow> open,
      BiConsumer<Place, List<Store.LedgerRow>> each) {
    Map<Place, List<Store.LedgerRow>> more = new TreeMap<>();
    for (Store.LedgerRow row : open) {
      if (filter.means(row)) {
        more.computeIfAbsent(Place.of(row), p -> new ArrayList<>()).add(row);
      }
    }
    List<Store.LedgerRow> rows = new ArrayList<>();
    books.rows(
        filter,
        row -> {
          if (!rows.isEmpty() && !Place.of(rows.get(0)).equals(Place.of(row))) {
            hand(rows, more, each);
          }
          rows.add(row);
        });
    if (!rows.isEmpty()) {
      hand(rows, more, each);
    }
    more.forEach(each);
  }

  private static void hand(
      List<Store.LedgerRow> rows,
      Map<Place, List<Store.LedgerRow>> more,
      BiConsumer<Place, List<Store.LedgerRow>> each) {
    Place place = Place.of(rows.get(0));
    List<Store.LedgerRow> open = more.remove(place);
    if (open != null) {
      rows.addAll(open);
    }
    each.accept(place, rows);
    rows.clear();
  }

  /**
   * Up to when a placement's time is counted: now, or as far as its rows go where a clock is behind
   * the one that wrote them.
   */
  static Instant present(List<Store.LedgerRow> rows, Instant now) {
    return rows.stream()
        .map(Store.LedgerRow::to)
        .filter(to -> to.isAfter(now))
        .max(Comparator.naturalOrder())
        .orElse(now);
  }

  /** The spans of each placement, in order. */
  static Map<Place, List<Books.Span>> spans(Books books) {
    Map<Place, List<Books.Span>> spans = new TreeMap<>();
    books.spans(
        span ->
            spans
                .computeIfAbsent(new Place(span.node(), span.tier()), p -> new ArrayList<>())
                .add(span));
    return spans;
  }

  /** A placement's key, in the order in which books hand rows and spans over. */
  record Place(String node, String tier) implements Comparable<Place> {
    static Place of(Store.LedgerRow row) {
      return new Place(row.node(), row.tier());
    }

    @Override
    public int compareTo(Place other) {
      int byNode = node.compareTo(other.node);
      return byNode != 0 ? byNode : tier.compareTo(other.tier);
    }

    @Override
    public String toString() {
      return node + " (" + tier + ")";
    }
  }

  /** One question for sums. */
  private static final class Sums {
    private final Books books;
    private final Store.LedgerFilter filter;
    private final Set<By> by;
    private final Instant now;
    private final Instant from;
    private final Instant to;
    private final Map<Map<By, String>, Amount> sums = new HashMap<>();

    Sums(Books books, Store.LedgerFilter filter, Set<By> by, Instant now) {
      this.books = books;
      this.filter = filter;
      this.by = by;
      this.now = now;
      this.from = filter.from() == null ? Instant.EPOCH : filter.from();
      this.to = filter.to() == null ? Instant.MAX : filter.to();
    }

    List<Line> lines() {
      List<StoredJob> jobs = new ArrayList<>();
      books.jobs(jobs::add);
      // Whether GPUs are free depends on all that is held, whatever kind is asked for.
      boolean whole = filter.account() == null && filter.job() == null && isFree(filter.kind());
      Store.LedgerFilter read =
          whole
              ? new Store.LedgerFilter(
                  null, null, filter.node(), filter.tier(), null, filter.from(), filter.to())
              : filter;
      Map<Place, List<Books.Span>> spans = whole ? spans(books) : new TreeMap<>();
      spans
          .keySet()
          .removeIf(
              p ->
                  filter.node() != null && !filter.node().equals(p.node())
                      || filter.tier() != null && !filter.tier().equals(p.tier()));
      byPlacement(
          books,
          read,
          open(books, jobs, now),
          (place, rows) -> {
            rows.forEach(this::add);
            add(place, spans.remove(place), rows);
          });
      spans.forEach((place, list) -> add(place, list, List.of()));
      if (filter.job() == null && filter.node() == null && filter.tier() == null) {
        books.corrections(this::add);
      }
      return sums.entrySet().stream()
          .map(
              e ->
                  new Line(
                      e.getKey(),
                      e.getValue().gpuSeconds().stripTrailingZeros(),
                      e.getValue().tflopSeconds().stripTrailingZeros(),
                      e.getValue().chargedTflopSeconds().stripTrailingZeros()))
          .sorted(
              Comparator.comparing(
                  line ->
                      line.group().values().stream()
                          .map(v -> v == null ? "\uffff" : v)
                          .collect(Collectors.joining("\n"))))
          .toList();
    }

    private static boolean isFree(String kind) {
      return kind == null
          || Set.of(Owner.OUTSIDE, Owner.IDLE, Owner.DRAINING, Owner.DOWN, Owner.BEYOND).stream()
              .anyMatch(o -> o.word().equals(kind));
    }

    private void add(Place place, List<Books.Span> spans, List<Store.LedgerRow> rows) {
      if (spans != null) {
        Instant present = present(rows, now);
        Instant until = to.isBefore(present) ? to : present;
        Timeline.walk(spans, rows, until, segment -> add(place, segment));
      }
    }

    private void add(Store.LedgerRow row) {
      if (filter.kind() != null && !filter.kind().equals(row.kind())) {
        return;
      }
      BigDecimal whole = Amount.gpuSeconds(row.gpus(), row.from(), row.to());
      BigDecimal cost = BigDecimal.valueOf(row.tflopSeconds());
      pieces(
          row.from(),
          row.to(),
          (a, b) -> {
            BigDecimal part = Amount.gpuSeconds(row.gpus(), a, b);
            BigDecimal partCost =
                part.compareTo(whole) == 0
                    ? cost
                    : row.tflops() != null
                        ? part.multiply(BigDecimal.valueOf(row.tflops()))
                        : cost.multiply(part).divide(whole, MathContext.DECIMAL64);
            put(
                group(
                    row.account(), Long.toString(row.job()), row.kind(), row.node(), row.tier(), a),
                new Amount(part, partCost, charged(row, partCost)));
          });
    }

    private static BigDecimal charged(Store.LedgerRow row, BigDecimal cost) {
      return row.charge() == null
          ? BigDecimal.ZERO
          : row.factor() == 1 ? cost : cost.multiply(BigDecimal.valueOf(row.factor()));
    }

    private void add(Place place, Timeline.Segment segment) {
      Owner free =
          segment.state() == NodeState.UP
              ? Owner.IDLE
              : segment.state() == NodeState.DRAINING ? Owner.DRAINING : Owner.DOWN;
      Map<Owner, Integer> parts = new EnumMap<>(Owner.class);
      parts.put(Owner.OUTSIDE, segment.usedOutside());
      parts.put(free, segment.free() - segment.usedOutside());
      parts.put(Owner.BEYOND, segment.beyond());
      parts.forEach(
          (owner, gpus) -> {
            if (gpus > 0 && (filter.kind() == null || filter.kind().equals(owner.word()))) {
              pieces(
                  segment.from(),
                  segment.to(),
                  (a, b) ->
                      put(
                          group(null, null, owner.word(), place.node(), place.tier(), a),
                          Amount.free(gpus, a, b)));
            }
          });
    }

    private void add(Books.Correction c) {
      if ((filter.account() == null || filter.account().equals(c.account()))
          && (filter.kind() == null || filter.kind().equals(c.kind()))
          && !c.at().isBefore(from)
          && (filter.to() == null || c.at().isBefore(filter.to()))) {
        BigDecimal moved = BigDecimal.valueOf(c.tflopSeconds());
        put(
            group(c.account(), null, c.kind(), null, null, c.at()),
            new Amount(BigDecimal.ZERO, moved, moved));
      }
    }

    @FunctionalInterface
    private interface Piece {
      void of(Instant from, Instant to);
    }

    /** The part of a stretch that is asked for, cut where a new hour or day begins. */
    private void pieces(Instant begin, Instant end, Piece each) {
      Instant a = begin.isBefore(from) ? from : begin;
      Instant b = end.isAfter(to) ? to : end;
      if (!a.isBefore(b)) {
        if (begin.equals(end)) {
          each.of(begin, end);
        }
        return;
      }
      while (a.isBefore(b)) {
        Instant next = bucket() == null ? b : a.truncatedTo(bucket()).plus(1, bucket());
        Instant cut = next.isBefore(b) ? next : b;
        each.of(a, cut);
        a = cut;
      }
    }

    private ChronoUnit bucket() {
      return by.contains(By.HOUR) ? ChronoUnit.HOURS : by.contains(By.DAY) ? ChronoUnit.DAYS : null;
    }

    private Map<By, String> group(
        String account, String job, String kind, String node, String tier, Instant at) {
      Map<By, String> group = new EnumMap<>(By.class);
      for (By one : by) {
        group.put(
            one,
            switch (one) {
              case ACCOUNT -> account;
              case JOB -> job;
              case KIND -> kind;
              case PLACEMENT -> node == null ? null : new Place(node, tier).toString();
              case TIER -> tier;
              case HOUR -> at.truncatedTo(ChronoUnit.HOURS).toString();
              case DAY -> at.truncatedTo(ChronoUnit.DAYS).toString();
            });
      }
      return group;
    }

    private void put(Map<By, String> group, Amount amount) {
      sums.merge(group, amount, Amount::plus);
      if (sums.size() > MOST_LINES) {
        throw new Refused(
            "INVALID_REQUEST",
            "by",
            null,
            "that makes more than " + MOST_LINES + " lines; ask for less time or for less detail");
      }
    }
  }
}
