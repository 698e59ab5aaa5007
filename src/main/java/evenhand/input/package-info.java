/**
 * Strict reading of JSON and YAML.
 *
 * <p>A {@link evenhand.input.Document} is text with its lines remembered; a {@link
 * evenhand.input.Shape} says which fields an object may have, of what kind, within what bounds and
 * with which default; reading one by the other gives a {@link evenhand.input.Section} or an {@link
 * evenhand.input.InputFault} that lists every fault at once with file, line, path and what would be
 * right. Nothing is guessed and nothing is skipped: unknown fields, duplicate keys, wrong kinds,
 * numbers that are not finite, YAML anchors and text after the end are all refused. This package
 * knows nothing of GPUs or jobs.
 */
package evenhand.input;
