package evenhand.facts;

/**
 * One parameter of the policy, as its YAML or a {@code --set} gives it.
 *
 * @param text the value as written
 * @param number the value as a number, durations in seconds; NaN where it is not one
 */
public record Setting(String name, String text, double number) {}
