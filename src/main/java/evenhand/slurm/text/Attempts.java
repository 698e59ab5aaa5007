package evenhand.slurm.text;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Rows of accounting put together to jobs: several rows of one id are attempts of one requeued job,
 * and the last one is its state.
 *
 * <p>Slurm's numbers come again after years. So rows belong together only if user and name are the
 * same too.
 */
final class Attempts {
  private record Key(String job, String user, String name) {}

  private final Map<Key, List<JobSheet>> byJob = new LinkedHashMap<>();
  private final Map<String, JobSheet> lastById = new HashMap<>();

  void add(JobSheet row) {
    lastById.put(row.job, row);
    byJob.computeIfAbsent(new Key(row.job, row.user, row.name), k -> new ArrayList<>()).add(row);
  }

  /** The job's last row so far under this id, to which the steps that follow belong; or null. */
  JobSheet last(String job) {
    return lastById.get(job);
  }

  List<Job> jobs() {
    List<Job> jobs = new ArrayList<>();
    for (List<JobSheet> rows : byJob.values()) {
      if (rows.stream().allMatch(row -> row.submit != null)) {
        rows.sort(Comparator.comparing(row -> row.submit)); // stable: equal times keep their order
      }
      jobs.add(rows.get(rows.size() - 1).job(rows));
    }
    return jobs;
  }
}
