package evenhand.reference;

import evenhand.facts.Share;
import evenhand.outcomes.Absorb;
import evenhand.outcomes.Charge;
import evenhand.outcomes.Claimed;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Outcome;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Release;
import evenhand.outcomes.Reserve;
import evenhand.outcomes.Start;
import evenhand.outcomes.Wait;
import java.util.ArrayList;
import java.util.List;

/**
 * Outcomes as lines of text that hold all that two readings must agree on: everything but the
 * message of a wait, and but the job it is behind where its code does not name one. Equal lines,
 * equal outcomes; so what a test compares is what its failure shows.
 */
final class OutcomeText {
  private OutcomeText() {}

  static List<String> lines(List<Decided> outcomes) {
    List<String> lines = new ArrayList<>();
    for (Decided decided : outcomes) {
      lines.add(line(decided.outcome()) + " by " + decided.rule());
    }
    return lines;
  }

  private static String line(Outcome outcome) {
    if (outcome instanceof Start start) {
      return "start " + start.job() + " on " + shares(start.on());
    }
    if (outcome instanceof Reserve reserve) {
      return held("reserve", reserve.job(), reserve.node(), reserve.tier().name(), reserve.gpus());
    }
    if (outcome instanceof Absorb absorb) {
      return held("absorb", absorb.job(), absorb.node(), absorb.tier().name(), absorb.gpus());
    }
    if (outcome instanceof Release release) {
      return held("release", release.job(), release.node(), release.tier().name(), release.gpus());
    }
    if (outcome instanceof Charge charge) {
      return "charge " + charge.account() + " " + charge.tflopSeconds() + " for " + charge.job();
    }
    if (outcome instanceof Preempt preempt) {
      return "preempt " + preempt.job() + " for " + preempt.forJob();
    }
    if (outcome instanceof Claimed claimed) { // what it counts on is a set
      List<String> yields = claimed.yields().stream().sorted().toList();
      return "claim "
          + claimed.job()
          + " on "
          + shares(claimed.on())
          + " ready "
          + claimed.readyAt()
          + " counting on "
          + yields;
    }
    if (outcome instanceof Wait wait) {
      boolean namesOne =
          wait.code().equals("HELD_BY_RESERVATION") || wait.code().equals("NOT_FIRST");
      return "wait "
          + wait.job()
          + " "
          + wait.code()
          + (namesOne ? " behind " + wait.behind() : "");
    }
    throw new IllegalArgumentException("An outcome of a new kind: " + outcome);
  }

  private static String shares(List<Share> on) {
    List<String> shares = new ArrayList<>();
    for (Share share : on) {
      shares.add(share.node() + "/" + share.tier().name() + " x" + share.gpus());
    }
    return String.join(" + ", shares);
  }

  private static String held(String verb, String job, String node, String tier, int gpus) {
    return verb + " " + job + " on " + node + "/" + tier + " x" + gpus;
  }
}
