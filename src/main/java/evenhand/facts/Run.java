package evenhand.facts;

import java.time.Instant;
import java.util.List;

/** One attempt of a job on GPUs, from start to end as Slurm recorded them. */
public record Run(List<Share> on, Instant from, Instant to) {
  public Run {
    on = List.copyOf(on);
  }
}
