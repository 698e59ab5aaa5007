/**
 * Snapshots and decisions as JSON.
 *
 * <p>{@link evenhand.json.SnapshotJson} reads a snapshot with every default and refuses one that
 * cannot be; what it writes is canonical, so that equal snapshots give equal bytes and one hash.
 * {@link evenhand.json.DecisionJson} writes a decision with its fields in the order of the format.
 * Numbers are written the same by every Java version.
 */
package evenhand.json;
