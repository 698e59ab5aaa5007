package evenhand.cycle.accounts;

import evenhand.cycle.Books;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The part of the memory that has the account tree, its changes, and figures by the hour. */
public interface AccountBook {

  /** All accounts there ever were, by id. */
  List<Entry> entries();

  /**
   * An account as it is remembered.
   *
   * @param parent null at the top
   * @param owners who may set the weights of what is below it, sorted
   * @param users whose jobs are charged to it where they name no account, sorted
   * @param retiredAt when it was taken out of the tree; null while it is in it
   */
  record Entry(
      String id,
      String parent,
      double weight,
      List<String> owners,
      List<String> users,
      Instant retiredAt) {
    public Entry {
      owners = owners.stream().sorted().toList();
      users = users.stream().sorted().toList();
    }

    public boolean retired() {
      return retiredAt != null;
    }
  }

  /**
   * Changes, newest first.
   *
   * @param of only of this account; null for all
   * @param below only of accounts that stood right below this one; null for all
   * @param before only ids below this one; {@link Long#MAX_VALUE} for the newest
   */
  List<AccountChange> changes(String of, String below, int limit, long before);

  /** All changes after this moment, newest first. */
  List<AccountChange> changesSince(Instant after);

  /**
   * Changes the tree, one caller at a time: hands over what is remembered, and writes what comes
   * back, all or nothing. An account is added before it is named as one above another.
   *
   * @param work what to change; it may throw, and nothing is changed then
   * @return what was written, with ids
   */
  List<AccountChange> change(Function<List<Entry>, Amendment> work);

  /**
   * What is to be written.
   *
   * @param wholeTree whether people have set the whole tree by it: from then on the settings of the
   *     service change nothing that is in it
   */
  record Amendment(List<AccountChange> changes, boolean wholeTree) {}

  /** Charged run time, one row for each hour, account and price. Both times are whole hours. */
  List<HourUse> usage(Instant from, Instant to);

  /**
   * @param hour when it begins
   */
  record HourUse(String account, Instant hour, double tflops, long gpuMicros) {}

  /** What jobs that are over had asked for; {@code tflops} is 0. Both times are whole hours. */
  List<HourUse> demand(Instant from, Instant to);

  /** What placements of configured tiers were, as far as it touches the time, in any order. */
  List<Books.Span> spans(Instant from, Instant to);

  /** How many jobs that are not over each account has; those without are left out. */
  Map<String, Integer> openJobs();

  /** Several questions about one and the same moment. */
  <T> T atOneMoment(Function<AccountBook, T> reader);
}
