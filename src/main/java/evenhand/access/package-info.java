/**
 * Who may do what: roles, tokens, and the record of every change.
 *
 * <p>A token is a random secret of 256 bit, shown once and kept as its SHA-256; it stands for a
 * user, with roles and accounts, until it expires or is revoked. {@link evenhand.access.Tokens}
 * makes, knows and revokes them; {@link evenhand.access.Person} is whoever a request is of. What is
 * asked of the memory are the ports {@link evenhand.access.TokenBook} and {@link
 * evenhand.access.AuditBook}. Which role a route needs is said beside the routes, in {@code
 * evenhand.api}.
 */
package evenhand.access;
