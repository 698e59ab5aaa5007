package evenhand.outcomes;

import java.util.List;

/**
 * What the end of a job, or of one attempt, brings: a release (R4), what it held, the charge (C3).
 */
public record Settlement(List<Decided> outcomes, List<HoldingCost> held) {
  public Settlement {
    outcomes = List.copyOf(outcomes);
    held = List.copyOf(held);
  }
}
