package evenhand.cycle;

import evenhand.cycle.Ledger.Place;
import evenhand.facts.Account;
import evenhand.facts.Cost;
import evenhand.facts.Reservation;
import evenhand.outcomes.HoldingCost;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Works out from the rows all that is kept beside them, and names the first difference (C6):
 *
 * <ol>
 *   <li>each row costs GPUs x seconds x the TFLOPS it was priced with (C1, C2);
 *   <li>each charge is the sum of its rows, which are of its job and account (C3), times the factor
 *       written down with it (C5);
 *   <li>every row is charged once, is carried by a job that has not ended, or is unallocated;
 *   <li>each job's {@code reservation_gpu_seconds} and {@code reservation_last_accrued_at};
 *   <li>each account's {@code cumulative_usage}: its charges and corrections;
 *   <li>every run that ended has its rows;
 *   <li>the spans of a placement follow each other and end in the inventory as it stands;
 *   <li>no more GPUs of a placement are held than it has, and its parts add up to capacity x time.
 * </ol>
 *
 * <p>Usage and what a job carries are kept as doubles: a difference within a billionth of the sum
 * is none. GPUs held beyond the capacity for no longer than the clocks of this host and Slurm's may
 * be apart are noted, not a difference; so is what happened while a clock went over the same time
 * twice. Once a job holds more than there is because its placement lost GPUs, only a holding that
 * began after that is one.
 */
public final class LedgerCheck {
  private static final double RELATIVE = 1e-9;
  private static final double ABSOLUTE = 1e-6;
  private static final int MOST_NOTES = 100;

  private final Books books;
  private final Instant now;
  private final Duration slack;
  private final List<String> notes = new ArrayList<>();
  private final Map<Long, BigDecimal> ofCharge = new HashMap<>();
  private final Map<Long, BigDecimal> carried = new HashMap<>();
  private final Map<Long, List<Store.LedgerRow>> carriedRows = new HashMap<>();
  private final Map<Long, Covered> firstOfCharge = new HashMap<>();
  private final Map<String, BigDecimal> ofAccount = new HashMap<>();
  private final NavigableMap<Integer, Difference> differences = new TreeMap<>();
  private List<Books.ClockStep> steps = List.of();
  private long rows;
  private long unpriced;
  private long charges;
  private long jobs;

  /** The first row seen of a charge. */
  private record Covered(long row, long job, String account) {
    @Override
    public String toString() {
      return "row " + row + " of job " + job + " and account " + account;
    }
  }

  /** The kinds of differences, in the order in which they are looked for. */
  private static final List<String> KINDS =
      List.of(
          "cost",
          "charge",
          "charged_once",
          "carried",
          "last_accrued",
          "usage",
          "missing_row",
          "span",
          "capacity",
          "parts");

  /**
   * @param now up to when open spans, runs and reservations count
   * @param slack how far the clocks of this host and Slurm's may be apart
   */
  LedgerCheck(Books books, Instant now, Duration slack) {
    this.books = books;
    this.now = now;
    this.slack = slack;
  }

  /**
   * Something that does not add up.
   *
   * @param what the kind of it: {@code cost}, {@code charge}, {@code charged_once}, {@code
   *     carried}, {@code last_accrued}, {@code usage}, {@code missing_row}, {@code span}, {@code
   *     capacity}, {@code parts}
   * @param where the row, charge, job, account or placement
   * @param by how far {@code found} is above {@code expected}; null where that is no number
   */
  public record Difference(
      String what, String where, String expected, String found, BigDecimal by, String sentence) {}

  /**
   * @param difference the first there is; null when everything adds up
   * @param notes what is worth knowing and no difference
   */
  public record Result(
      Difference difference,
      Instant at,
      int accounts,
      long jobs,
      long rows,
      long charges,
      int placements,
      List<String> notes) {
    public Result {
      notes = List.copyOf(notes);
    }
  }

  Result run() {
    Map<Place, List<Books.Span>> spans = Ledger.spans(books);
    int placements = spans.size();
    inventory(spans);
    steps = books.clockSteps();
    for (Books.ClockStep step : steps) {
      note("the clock stepped back from " + step.from() + " to " + step.to());
    }
    List<StoredJob> kept = new ArrayList<>();
    books.jobs(kept::add);
    Ledger.byPlacement(
        books,
        Store.LedgerFilter.ALL,
        Ledger.open(books, kept, now),
        (place, held) -> {
          held.stream().filter(row -> row.id() != 0).forEach(this::row);
          placement(place, spans.remove(place), held);
        });
    spans.forEach((place, list) -> placement(place, list, List.of()));
    books.charges(this::charge);
    left();
    books.corrections(
        c -> ofAccount.merge(c.account(), BigDecimal.valueOf(c.tflopSeconds()), BigDecimal::add));
    kept.forEach(this::job);
    uncarried();
    List<Account> accounts = books.accounts();
    accounts.forEach(this::account);
    books.runWithoutRow().ifPresent(this::missing);
    if (unpriced > 0) {
      note(unpriced + " rows are older than the column of prices; their cost was not worked out");
    }
    return new Result(
        differences.isEmpty() ? null : differences.firstEntry().getValue(),
        now,
        accounts.size(),
        jobs,
        rows,
        charges,
        placements,
        notes);
  }

  private void differ(
      String what, String where, Object expected, Object found, BigDecimal by, String sentence) {
    differences.putIfAbsent(
        KINDS.indexOf(what),
        new Difference(what, where, String.valueOf(expected), String.valueOf(found), by, sentence));
  }

  private void differ(
      String what, String where, BigDecimal expected, BigDecimal found, String said, String is) {
    BigDecimal by = found.subtract(expected);
    differ(
        what,
        where,
        plain(expected),
        plain(found),
        by,
        said
            + " "
            + plain(found)
            + "; "
            + is
            + " "
            + plain(expected)
            + ": "
            + plain(by.abs())
            + (by.signum() > 0 ? " too much." : " too little."));
  }

  private static String plain(BigDecimal number) {
    return number.signum() == 0 ? "0" : number.stripTrailingZeros().toPlainString();
  }

  private static boolean near(BigDecimal a, BigDecimal b) {
    double bound = ABSOLUTE + RELATIVE * Math.max(a.abs().doubleValue(), b.abs().doubleValue());
    return a.subtract(b).abs().doubleValue() <= bound;
  }

  private static String words(Store.LedgerRow row) {
    return (row.id() == 0 ? "what job " + row.job() + " holds" : "row " + row.id())
        + " ("
        + row.kind()
        + ", job "
        + row.job()
        + ", "
        + row.gpus()
        + " of "
        + row.node()
        + " ("
        + row.tier()
        + ") from "
        + row.from()
        + " to "
        + row.to()
        + ")";
  }

  private void row(Store.LedgerRow row) {
    rows++;
    if (row.tflops() == null) {
      unpriced++;
    } else {
      double cost = Cost.tflopSeconds(row.gpus(), row.from(), row.to(), row.tflops());
      if (cost != row.tflopSeconds()) {
        differ(
            "cost",
            "row " + row.id(),
            BigDecimal.valueOf(cost),
            BigDecimal.valueOf(row.tflopSeconds()),
            "The cost of " + words(row) + " is written as",
            "GPUs x seconds x " + row.tflops() + " TFLOPS is");
      }
    }
    BigDecimal cost = BigDecimal.valueOf(row.tflopSeconds());
    if (row.charge() != null) {
      ofCharge.merge(row.charge(), cost, BigDecimal::add);
      firstOfCharge.putIfAbsent(row.charge(), new Covered(row.id(), row.job(), row.account()));
      if (row.kind().equals(HoldingCost.UNALLOCATED)) {
        differ(
            "charged_once",
            "row " + row.id(),
            "not charged",
            "charged",
            null,
            "The unallocated time of "
                + words(row)
                + " was charged by charge "
                + row.charge()
                + ".");
      }
      Covered other = firstOfCharge.get(row.charge());
      if (other.job() != row.job() || !other.account().equals(row.account())) {
        differ(
            "charge",
            "charge " + row.charge(),
            "rows of one job and account",
            "rows of several",
            null,
            "Charge "
                + row.charge()
                + " covers rows of job "
                + other.job()
                + " and of job "
                + row.job()
                + ".");
      }
    } else if (row.kind().equals(HoldingCost.RUN)) {
      differ(
          "charged_once",
          "row " + row.id(),
          "charged once",
          "not charged",
          null,
          "Nobody was charged for " + words(row) + ".");
    } else if (row.kind().equals(HoldingCost.RESERVED)) {
      carried.merge(row.job(), cost, BigDecimal::add);
      carriedRows.computeIfAbsent(row.job(), j -> new ArrayList<>()).add(row);
    }
  }

  private void charge(Books.ChargeRow charge) {
    charges++;
    BigDecimal found = BigDecimal.valueOf(charge.tflopSeconds());
    BigDecimal expected = ofCharge.remove(charge.id());
    expected =
        expected == null ? BigDecimal.ZERO : expected.multiply(BigDecimal.valueOf(charge.factor()));
    String where = "charge " + charge.id();
    if (!near(expected, found)) {
      differ(
          "charge",
          where,
          expected,
          found,
          "Charge " + charge.id() + " of job " + charge.job() + " to " + charge.account() + " is",
          charge.factor() == 1 ? "its rows cost" : "its rows times " + charge.factor() + " cost");
    }
    Covered row = firstOfCharge.get(charge.id());
    if (row != null && (row.job() != charge.job() || !row.account().equals(charge.account()))) {
      differ(
          "charge",
          where,
          "job " + row.job() + ", account " + row.account(),
          "job " + charge.job() + ", account " + charge.account(),
          null,
          "Charge "
              + charge.id()
              + " is of job "
              + charge.job()
              + " to "
              + charge.account()
              + ", but covers "
              + row
              + ".");
    }
    ofAccount.merge(charge.account(), found, BigDecimal::add);
  }

  /** No row may say that it is covered by a charge that is not there. */
  private void left() {
    ofCharge.keySet().stream()
        .sorted()
        .findFirst()
        .ifPresent(
            id ->
                differ(
                    "charge",
                    "charge " + id,
                    "a charge",
                    "none",
                    null,
                    "There is no charge " + id + ", which " + firstOfCharge.get(id) + " names."));
  }

  private void job(StoredJob job) {
    jobs++;
    BigDecimal found = BigDecimal.valueOf(job.carriedTflopSeconds());
    BigDecimal expected = carried.remove(job.id());
    expected = expected == null ? BigDecimal.ZERO : expected;
    String where = "job " + job.id();
    if (!near(expected, found)) {
      differ(
          "carried",
          where,
          expected,
          found,
          "Job " + job.id() + " carries a reservation_gpu_seconds of",
          "its rows that are not charged yet cost");
    }
    if (job.state().ended() && !near(BigDecimal.ZERO, found)) {
      differ(
          "charged_once",
          where,
          BigDecimal.ZERO,
          found,
          "Job " + job.id() + " has ended as " + job.state() + " and still carries",
          "an ended job carries");
    }
    Reservation held = job.reservation();
    if (held != null) {
      Instant accrued = held.since();
      for (Store.LedgerRow row : carriedRows.getOrDefault(job.id(), List.of())) {
        if (row.node().equals(held.node())
            && row.tier().equals(held.tier().name())
            && row.to().isAfter(accrued)) {
          accrued = row.to();
        }
      }
      if (!accrued.equals(held.accruedAt())) {
        differ(
            "last_accrued",
            where,
            accrued,
            held.accruedAt(),
            null,
            "Job "
                + job.id()
                + " says that its reservation on "
                + new Place(held.node(), held.tier().name())
                + " was last accrued at "
                + held.accruedAt()
                + "; its rows end at "
                + accrued
                + ".");
      }
    }
  }

  /** Rows that are not charged, of jobs that have ended carrying nothing. */
  private void uncarried() {
    new TreeSet<>(carried.keySet())
        .forEach(
            job -> {
              Store.LedgerRow row = carriedRows.get(job).get(0);
              differ(
                  "charged_once",
                  "row " + row.id(),
                  "charged once",
                  "not charged",
                  null,
                  "Nobody was charged for "
                      + words(row)
                      + ", and its job has ended and carries nothing.");
            });
  }

  private void account(Account account) {
    BigDecimal expected = ofAccount.getOrDefault(account.id(), BigDecimal.ZERO);
    BigDecimal found = BigDecimal.valueOf(account.cumulativeUsage());
    if (!near(expected, found)) {
      differ(
          "usage",
          "account " + account.id(),
          expected,
          found,
          "Account " + account.id() + " has a cumulative_usage of",
          "its charges and corrections come to");
    }
  }

  private void missing(Attempt attempt) {
    differ(
        "missing_row",
        "job " + attempt.job() + " attempt " + attempt.attempt(),
        "a row for each of its placements",
        "none for one of them",
        null,
        "Attempt "
            + attempt.attempt()
            + " of job "
            + attempt.job()
            + " ran from "
            + attempt.startedAt()
            + " to "
            + attempt.endedAt()
            + ", and the ledger has no row for one of its placements.");
  }

  private void inventory(Map<Place, List<Books.Span>> spans) {
    spans.forEach(
        (place, list) -> {
          for (int i = 1; i < list.size(); i++) {
            Books.Span before = list.get(i - 1);
            Books.Span span = list.get(i);
            if (before.to() == null || span.from().isBefore(before.to())) {
              differ(
                  "span",
                  "placement " + place,
                  before.to() == null ? "one open span" : "from " + before.to() + " on",
                  "from " + span.from() + " on",
                  null,
                  "Span "
                      + span.id()
                      + " of "
                      + place
                      + " begins at "
                      + span.from()
                      + ", before the one before it, "
                      + before.id()
                      + ", has ended ("
                      + before.to()
                      + ").");
            } else if (span.from().isAfter(before.to())) {
              note(
                  place
                      + " was not in use from "
                      + before.to()
                      + " to "
                      + span.from()
                      + ": its tier was not configured or it had no GPUs");
            }
          }
        });
    if (spans.isEmpty()) {
      return;
    }
    for (Stock stock : books.stock()) {
      Place place = new Place(stock.node(), stock.tier().name());
      List<Books.Span> list = spans.getOrDefault(place, List.of());
      Books.Span last = list.isEmpty() ? null : list.get(list.size() - 1);
      String expected = stock.capacity() + " " + stock.state().word();
      String found =
          last == null || last.to() != null
              ? "nothing"
              : last.capacity() + " " + last.state().word();
      if (!expected.equals(found)) {
        differ(
            "span",
            "placement " + place,
            expected,
            found,
            null,
            "The inventory has "
                + expected
                + " of "
                + place
                + "; its last span has "
                + found
                + ".");
      }
    }
  }

  private void note(String note) {
    if (notes.size() < MOST_NOTES) {
      notes.add(note);
    } else if (notes.size() == MOST_NOTES) {
      notes.add("there is more of the kind");
    }
  }

  /**
   * The segments of one placement, and its capacity x time by the spans alone, against what is held
   * by the holdings alone and what is left over by both together.
   *
   * @param spans null when it was never seen
   */
  private void placement(Place place, List<Books.Span> spans, List<Store.LedgerRow> held) {
    if (spans == null) {
      return;
    }
    Counted counted = new Counted(place);
    Instant present = Ledger.present(held, now);
    Timeline.walk(spans, held, present, counted::add);
    counted.end();
    BigDecimal expected = BigDecimal.ZERO;
    for (Books.Span span : spans) {
      Instant to = span.to() == null || span.to().isAfter(present) ? present : span.to();
      expected = expected.add(Amount.gpuSeconds(span.capacity(), span.from(), to));
    }
    Instant since = spans.get(0).from();
    BigDecimal found = counted.left;
    for (Store.LedgerRow row : held) {
      Instant from = row.from().isBefore(since) ? since : row.from();
      found = found.add(Amount.gpuSeconds(row.gpus(), from, row.to()));
    }
    if (expected.compareTo(found) != 0) {
      differ(
          "parts",
          "placement " + place,
          expected,
          found,
          "What was run, reserved, idle, draining, down and in use by others of "
              + place
              + " comes to GPU-seconds of",
          "its capacity x time is");
    }
  }

  /** The segments of one placement, as they are counted. */
  private final class Counted {
    private final Place place;

    /** Free less what is held beyond the capacity, GPU-seconds. */
    private BigDecimal left = BigDecimal.ZERO;

    private Timeline.Segment begun;
    private Timeline.Segment last;

    Counted(Place place) {
      this.place = place;
    }

    void add(Timeline.Segment s) {
      left =
          left.add(Amount.gpuSeconds(s.free(), s.from(), s.to()))
              .subtract(Amount.gpuSeconds(s.beyond(), s.from(), s.to()));
      boolean tooMuch = s.beyond() > 0 && s.heldSince() > 0;
      if (begun != null && !(tooMuch && last.to().equals(s.from()))) {
        end();
      }
      if (tooMuch) {
        begun = begun == null ? s : begun;
        last = s;
      }
    }

    /** What was held beyond the capacity without a break, as far as it has gone. */
    void end() {
      if (begun == null) {
        return;
      }
      Duration time = Duration.between(begun.from(), last.to());
      String words =
          begun.held()
              + " GPUs of "
              + place
              + " were held from "
              + begun.from()
              + " on for "
              + time.toMillis() / 1000.0
              + " s, and it has "
              + begun.capacity()
              + ": the last to begin is "
              + words(begun.newest());
      if (time.compareTo(slack) <= 0) {
        note(words + "; no longer than clocks may be apart");
      } else if (steps.stream()
          .anyMatch(c -> begun.from().isBefore(c.from()) && c.to().isBefore(last.to()))) {
        note(words + "; the clock went over that time twice");
      } else {
        differ(
            "capacity",
            "placement " + place,
            BigDecimal.valueOf(begun.capacity()),
            BigDecimal.valueOf(begun.held()),
            BigDecimal.valueOf(begun.beyond()),
            words + ".");
      }
      begun = null;
    }
  }
}
