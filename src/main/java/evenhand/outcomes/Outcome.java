package evenhand.outcomes;

/** A conclusion that changes the world or answers a job: one line of a decision. */
public sealed interface Outcome extends Conclusion
    permits Start, Reserve, Absorb, Claimed, Release, Preempt, Charge, Wait {

  /** The job it is about. */
  String job();
}
