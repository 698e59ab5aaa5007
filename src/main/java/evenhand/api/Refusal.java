package evenhand.api;

/** A request is answered with this problem. */
final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private final transient Problem problem;

  Refusal(Problem problem) {
    super(problem.detail());
    this.problem = problem;
  }

  Problem problem() {
    return problem;
  }
}
