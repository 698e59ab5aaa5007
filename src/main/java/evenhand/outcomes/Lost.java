package evenhand.outcomes;

import evenhand.facts.Reservation;

/** R5: the placement of this reservation is gone. */
public record Lost(Reservation reservation) implements Conclusion {}
