package evenhand.outcomes;

/** Anything a rule may insert. */
public sealed interface Conclusion
    permits Outcome,
        Together,
        Unclaim,
        Leaves,
        Lost,
        Shield,
        Preemptable,
        Fit,
        Available,
        Veto,
        Factor,
        HoldingCost,
        Yield,
        Refuse,
        Remark {}
