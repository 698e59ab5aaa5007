package evenhand.facts;

import java.time.Instant;

/** The one instant of this cycle or event. */
public record Moment(Instant now) {}
