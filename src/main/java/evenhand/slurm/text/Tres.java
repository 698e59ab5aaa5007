package evenhand.slurm.text;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * The GPUs in a string of trackable resources: {@code cpu=4,mem=32G,gres/gpu=2,gres/gpu:a100=2}.
 *
 * <p>{@code gres/gpu} is the total and {@code gres/gpu:MODEL} a part of it; they are never added
 * together. {@code gres/gpumem} and {@code gres/gpuutil} are usage figures, no GPUs.
 *
 * @param total the plain {@code gres/gpu}, null when it is not named
 * @param typed GPUs by model
 * @param cut true when the string was cut short (it ends in {@code +}, or an item has no value), so
 *     that what it does not name may still have been there
 */
public record Tres(Long total, Map<String, Long> typed, boolean cut) {
  private static final String GPU = "gres/gpu";

  /**
   * Reads any text; an empty one ({@code (null)}, {@code N/A} too) names nothing.
   *
   * @param text the string, or null
   */
  public static Tres read(String text) {
    String told = Words.orNull(text);
    Long total = null;
    Map<String, Long> typed = new LinkedHashMap<>();
    boolean cut = false;
    if (told != null) {
      for (String item : told.split(",", -1)) {
        int equals = item.indexOf('=');
        String value = equals < 0 ? "" : item.substring(equals + 1).strip();
        if (equals <= 0 || value.isEmpty() || value.endsWith("+")) {
          cut = true;
          continue;
        }
        String name = item.substring(0, equals).strip();
        if (!name.equals(GPU) && !name.startsWith(GPU + ":")) {
          continue;
        }
        OptionalLong count = Gres.count(value);
        if (count.isEmpty()) {
          cut = true;
        } else if (name.equals(GPU)) {
          total = count.getAsLong();
        } else {
          typed.merge(name.substring(GPU.length() + 1), count.getAsLong(), Long::sum);
        }
      }
    }
    return new Tres(total, Collections.unmodifiableMap(typed), cut);
  }

  /** GPUs in all, or null when the string was cut short. */
  public Long gpus() {
    if (cut) {
      return null;
    }
    return total != null ? total : typedSum();
  }

  /** True when GPUs are named at all; where they are not tracked a string never names them. */
  public boolean namesGpus() {
    return total != null || !typed.isEmpty();
  }

  /** GPUs by model; what the total holds beyond the typed ones is untyped. Empty when cut. */
  public List<GpuCount> byModel() {
    List<GpuCount> counts = new ArrayList<>();
    if (!cut) {
      typed.forEach((model, count) -> counts.add(new GpuCount(model, count)));
      long untyped = total == null ? 0 : total - typedSum();
      if (untyped > 0 || (typed.isEmpty() && total != null)) {
        counts.add(new GpuCount(null, Math.max(0, untyped)));
      }
    }
    return List.copyOf(counts);
  }

  private long typedSum() {
    return typed.values().stream().mapToLong(Long::longValue).sum();
  }
}
