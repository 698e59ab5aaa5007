package evenhand.cycle.accounts;

import evenhand.policy.ChargeUnit;
import java.math.BigDecimal;
import java.util.Map;
import java.util.TreeMap;

/**
 * GPU time by the price of its GPUs. Exact, in whole GPU-microseconds: a sum never depends on the
 * order in which its parts came, nor on how they were cut.
 */
public final class GpuTime {
  private final TreeMap<Double, Long> microsByPrice = new TreeMap<>();

  /**
   * @param tflops of one GPU of the tier
   * @param gpuMicros GPUs x microseconds
   */
  public GpuTime add(double tflops, long gpuMicros) {
    microsByPrice.merge(tflops, gpuMicros, Math::addExact);
    return this;
  }

  public GpuTime add(GpuTime other) {
    other.microsByPrice.forEach(this::add);
    return this;
  }

  /** A sum of its own, to be added to. */
  public GpuTime copy() {
    return new GpuTime().add(this);
  }

  public Map<Double, Long> microsByPrice() {
    return microsByPrice;
  }

  /** GPU-seconds, or TFLOP-seconds: the nearest double to the exact sum. */
  public double in(ChargeUnit unit) {
    if (unit == ChargeUnit.GPU_S) {
      long micros = 0;
      for (long part : microsByPrice.values()) {
        micros = Math.addExact(micros, part);
      }
      return BigDecimal.valueOf(micros, 6).doubleValue();
    }
    BigDecimal sum = BigDecimal.ZERO;
    for (Map.Entry<Double, Long> part : microsByPrice.entrySet()) {
      sum =
          sum.add(
              BigDecimal.valueOf(part.getKey()).multiply(BigDecimal.valueOf(part.getValue(), 6)));
    }
    return sum.doubleValue();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof GpuTime time && microsByPrice.equals(time.microsByPrice);
  }

  @Override
  public int hashCode() {
    return microsByPrice.hashCode();
  }

  @Override
  public String toString() {
    return microsByPrice.toString();
  }
}
