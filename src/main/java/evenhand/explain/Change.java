package evenhand.explain;

import evenhand.facts.Share;
import java.util.List;

/**
 * The smallest change of one kind with which a waiting job would be given its GPUs now.
 *
 * @param kind {@code num_gpus}, {@code nodes}, {@code tier}, {@code minimum_tier}, {@code
 *     min_runtime_s}: what it would have to ask otherwise; or {@code protection_ends}: what it
 *     would have to wait for, everything else staying as it is
 * @param from what it asks now; null for {@code protection_ends}
 * @param to what it would ask: a number, the name of a tier, or null for any tier; an instant for
 *     {@code protection_ends}
 * @param on where it would start
 * @param ends running jobs that would be told to make room for it
 * @param protectedJobs jobs that leave protection at that moment; empty for other kinds
 * @param anew whether it would start as well when submitted anew now, at the end of its place in
 *     the queue; null for {@code protection_ends}
 * @param message the same in one sentence
 */
public record Change(
    String kind,
    Object from,
    Object to,
    List<Share> on,
    List<String> ends,
    List<String> protectedJobs,
    Boolean anew,
    String message) {
  public Change {
    on = List.copyOf(on);
    ends = List.copyOf(ends);
    protectedJobs = List.copyOf(protectedJobs);
  }
}
