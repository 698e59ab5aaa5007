/**
 * A second reading of policy {@code reservation}, in plain Java, written from the clauses alone.
 *
 * <p>The rules and this reading were written apart. {@link evenhand.reference.RandomSnapshots}
 * makes up worlds, both decide them, and every outcome must be the same; {@link
 * evenhand.reference.Invariants} then holds what no reading may break. Where the two differ, one of
 * them misread a clause, or the clause can be read in two ways. Nothing here may look at the rules,
 * and nothing outside the tests may use it.
 *
 * <p>{@link evenhand.reference.BudgetReading} and {@code ClaimReading} are the same for policy
 * {@code budget}, without claims and with them.
 */
package evenhand.reference;
