/**
 * The account tree: who may spend how much of the cluster, what they have used of it, and how that
 * changes (A1 to A5). {@link evenhand.cycle.accounts.AccountBook} is the port to the memory, {@link
 * evenhand.cycle.accounts.AccountDesk} answers people, {@link
 * evenhand.cycle.accounts.AccountRights} says who may change what. A change is effective from the
 * next cycle on: weights are facts of each cycle's snapshot.
 */
package evenhand.cycle.accounts;
