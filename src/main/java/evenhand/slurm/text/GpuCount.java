package evenhand.slurm.text;

/**
 * So many GPUs of one model.
 *
 * @param model the gres type as Slurm writes it, case kept ({@code a100}, {@code 1g.10gb}); {@code
 *     null} when the text gives none
 * @param count GPUs (or slices, for a MIG profile), not negative
 */
public record GpuCount(String model, long count) {}
