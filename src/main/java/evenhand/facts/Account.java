package evenhand.facts;

/**
 * A node of the account tree; a lab in policy {@code reservation} is one without children.
 *
 * @param parent id of the account above, null at the root
 * @param weight its budget among its siblings (A1)
 * @param cumulativeUsage all it has ever been charged, TFLOP-seconds (Q2)
 * @param windowUsage what it was charged within the lookback, in the unit of the policy's {@code
 *     charge_unit}: GPU-seconds, or TFLOP-seconds (A3)
 */
public record Account(
    String id, String parent, double weight, double cumulativeUsage, double windowUsage) {}
