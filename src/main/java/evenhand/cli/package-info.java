/**
 * The command line: {@code java -jar evenhand.jar COMMAND …}.
 *
 * <p>Each command is one class; {@link evenhand.cli.Commands} lists them. A command returns its
 * exit status and never ends the process: 0 done, 1 the answer is no, 2 wrong use or bad input, 3
 * something outside failed. Answers go to standard output, as a table or with {@code -o json} as
 * JSON; everything else goes to standard error in plain sentences. Commands that ask the running
 * service speak to its REST API and know nothing else of it.
 */
package evenhand.cli;
