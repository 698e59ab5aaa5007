package evenhand.outcomes;

import java.util.List;

/**
 * The answer to a submission: accepted when nothing refuses it.
 *
 * @param refusal the first refusal in clause order, or null
 * @param rule the clause that refused, or null
 */
public record Admission(Refuse refusal, String rule, List<Remark> remarks) {
  public Admission {
    remarks = List.copyOf(remarks);
  }

  public boolean accepted() {
    return refusal == null;
  }
}
