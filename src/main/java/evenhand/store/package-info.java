/**
 * The memory in PostgreSQL: the cycle's {@link evenhand.cycle.Store} as visible SQL.
 *
 * <p>Every method is one transaction. Update counts are checked: a row that has changed since it
 * was read refuses the whole transaction as {@link evenhand.cycle.Overtaken}. Which process decides
 * is an advisory lock and an epoch, so that one that was frozen and wakes writes nothing.
 */
package evenhand.store;
