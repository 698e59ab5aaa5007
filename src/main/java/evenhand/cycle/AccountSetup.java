package evenhand.cycle;

/**
 * An account as the settings name it.
 *
 * @param parent id of the account above, null at the root; named before its children
 * @param weight its budget among its siblings (A1); used when the account is made, and kept as
 *     people have changed it since
 */
public record AccountSetup(String id, String parent, double weight) {}
