/**
 * The service put together: settings, database, clock, cluster, router, the cycle on its timer, and
 * what health and metrics tell of them.
 *
 * <p>The only package that knows all the others; nothing depends on it but the entry point. It
 * decides nothing: it chooses which adapter stands behind each of the cycle's ports.
 */
package evenhand.service;
