package evenhand.outcomes;

/** Anything a rule may insert. */
public sealed interface Conclusion
    permits Outcome, Lost, Fit, Available, Veto, Factor, HoldingCost, Yield, Refuse, Remark {}
