package evenhand.policy;

import evenhand.facts.Job;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.outcomes.Start;
import java.util.HashMap;
import java.util.Map;

/** GPUs that each account holds by work that refuses to be preempted (PR4), as a cycle goes on. */
final class Refusing {
  private final Map<String, Integer> held = new HashMap<>();
  private final Map<String, String> accounts = new HashMap<>();

  Refusing(Snapshot snapshot) {
    for (Running r : snapshot.running()) {
      if (!r.preemptible()) {
        held.merge(r.account(), r.gpus(), Integer::sum);
      }
    }
    for (Job job : snapshot.jobs()) {
      if (!job.preemptible()) {
        accounts.put(job.id(), job.account());
      }
    }
  }

  int held(String account) {
    return held.getOrDefault(account, 0);
  }

  void started(Start start) {
    String account = accounts.get(start.job());
    if (account != null) {
      held.merge(account, start.on().stream().mapToInt(Share::gpus).sum(), Integer::sum);
    }
  }
}
