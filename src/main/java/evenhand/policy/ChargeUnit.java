package evenhand.policy;

import evenhand.facts.Tier;

/** What usage within the window is counted in (A3, parameter {@code charge_unit}). */
public enum ChargeUnit {
  /** GPU-seconds: an hour of any GPU counts alike. */
  GPU_S("gpu_s"),
  /** TFLOP-seconds: an hour of a faster GPU counts more. */
  TFLOP_S("tflop_s");

  private final String word;

  ChargeUnit(String word) {
    this.word = word;
  }

  /** As the parameter has it. */
  public String word() {
    return word;
  }

  /** What a second of one GPU of this tier counts. */
  public double price(Tier tier) {
    return this == GPU_S ? 1 : tier.tflops();
  }

  static ChargeUnit of(String word) {
    for (ChargeUnit unit : values()) {
      if (unit.word.equals(word)) {
        return unit;
      }
    }
    throw new IllegalArgumentException("charge_unit is gpu_s or tflop_s, not " + word);
  }
}
