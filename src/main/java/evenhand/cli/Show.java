package evenhand.cli;

import evenhand.input.Durations;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** The service's answers in few words. */
final class Show {
  private Show() {}

  /** A field as text; null when it is missing or null. */
  static String text(JsonNode of, String field) {
    JsonNode value = of.path(field);
    if (value.isMissingNode() || value.isNull()) {
      return null;
    }
    return value.isContainer() ? value.toString() : value.asString();
  }

  /** A number without an exponent, rounded to three places. */
  static String number(JsonNode of, String field) {
    JsonNode value = of.path(field);
    return value.isNumber() ? number(value.asDouble()) : text(of, field);
  }

  /** A part of one as a percentage with one decimal. */
  static String percent(JsonNode of, String field) {
    JsonNode value = of.path(field);
    return value.isNumber() ? percent(value.asDouble()) : null;
  }

  static String percent(double part) {
    return String.format(java.util.Locale.ROOT, "%.1f %%", part * 100);
  }

  /**
   * Seconds as hours with one decimal, e.g. GPU-seconds as GPU-hours; little of it with two digits
   * that say something, so that what is beside it can be read.
   */
  static String hours(JsonNode of, String field) {
    JsonNode value = of.path(field);
    if (!value.isNumber()) {
      return null;
    }
    double hours = value.asDouble() / 3600;
    return hours == 0 || Math.abs(hours) >= 0.95
        ? String.format(java.util.Locale.ROOT, "%.1f", hours)
        : java.math.BigDecimal.valueOf(hours)
            .round(new java.math.MathContext(2))
            .stripTrailingZeros()
            .toPlainString();
  }

  /** Names with commas between; null for none. */
  static String names(JsonNode of, String field) {
    List<String> names = new ArrayList<>();
    of.path(field).forEach(name -> names.add(name.asString()));
    return names.isEmpty() ? null : String.join(",", names);
  }

  private static String number(double value) {
    return java.math.BigDecimal.valueOf(value)
        .setScale(3, java.math.RoundingMode.HALF_EVEN)
        .stripTrailingZeros()
        .toPlainString();
  }

  /** Seconds as {@code 8h}. */
  static String duration(JsonNode of, String field) {
    JsonNode value = of.path(field);
    return value.isNumber() ? Durations.text(value.asLong()) : null;
  }

  /** {@code 2 x 4 h100}: nodes, GPUs on each, tier. */
  static String asked(JsonNode job) {
    String gpus = text(job, "num_gpus");
    String nodes = text(job, "nodes");
    String tier = text(job, "tier");
    return ("1".equals(nodes) ? gpus : nodes + "x" + gpus) + (tier == null ? "" : " " + tier);
  }

  /** {@code n1:2(4090)}; several with commas between. */
  static String gpus(JsonNode one) {
    if (one.isArray()) {
      List<String> all = new ArrayList<>();
      one.forEach(share -> all.add(gpus(share)));
      return String.join(",", all);
    }
    return one.isObject()
        ? text(one, "node") + ":" + text(one, "gpus") + "(" + text(one, "tier") + ")"
        : null;
  }

  /** {@code account_usage=24000}; several with spaces between. */
  static String figures(JsonNode figures) {
    List<String> all = new ArrayList<>();
    figures.properties().forEach(e -> all.add(e.getKey() + "=" + number(figures, e.getKey())));
    return String.join(" ", all);
  }
}
