package evenhand.slurm.text;

import evenhand.hostlist.HostList;
import java.util.List;

/** How many host names one answer may stand for in all, so that short texts cannot fill memory. */
final class HostBudget {
  static final int MAX_HOSTS = 2_000_000;

  private int left = MAX_HOSTS;

  /**
   * As {@link HostList#expand}.
   *
   * @throws IllegalArgumentException also when the whole answer has named too many
   */
  List<String> expand(String list) {
    List<String> hosts = HostList.expand(list);
    if (hosts.size() > left) {
      throw new IllegalArgumentException(
          "the answer stands for more than " + MAX_HOSTS + " hosts in all");
    }
    left -= hosts.size();
    return hosts;
  }
}
