/**
 * How the text of Slurm's commands is understood, 20.11 to 25.x: text in, records out.
 *
 * <p>Contract: pure functions; no processes, no clock, no framework. What a text does not say is
 * {@code null}, never a friendly guess: GPUs in use that are not told are unknown and not 0, and a
 * column that was cut is an error. A single value that cannot be read is an {@link
 * java.lang.IllegalArgumentException} with a sentence; in a whole answer the bad record becomes a
 * fault beside the good ones ({@link evenhand.slurm.text.Reading}). Every loop is bounded by its
 * input. {@link evenhand.slurm.text.Parse} shows all of it to an operator.
 */
package evenhand.slurm.text;
