package evenhand.cycle;

/** What came of giving a job to the cluster. */
public sealed interface Submission {

  /** It is there, under this number. */
  record Submitted(String clusterJob) implements Submission {}

  /** The cluster will never take it like this; its own words. */
  record Refused(String because) implements Submission {}

  /** Certainly not there; it may be tried again later. */
  record NotSubmitted(String because) implements Submission {}

  /** It may be there: look it up before anything else. */
  record Unknown(String because) implements Submission {}
}
