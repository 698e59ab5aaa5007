package evenhand.slurm.text;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A generic-resource string: {@code Gres}, {@code GresUsed}, {@code GRES}, {@code TresPerNode} and
 * their like, from any of Slurm's commands.
 *
 * <p>Shape: items {@code [gres:|gres/]NAME[:TYPE][:no_consume][:COUNT][(DETAIL)]} with commas
 * between them; {@code =} may stand before the count; a detail may itself hold commas. Only the
 * resource called {@code gpu} is GPUs: {@code gpu_mem}, {@code shard}, {@code mps}, {@code mig} are
 * others.
 *
 * @param items every resource named, in order
 * @param whole false when a GPU item could not be read or the last item lacks its count, as happens
 *     when a column was cut; what could be read is in {@code items} all the same
 * @param fault why the GPUs named may not be all, or not those: an entry of GPUs that cannot be
 *     read, or a text that ends before its time; null where nothing speaks against them
 */
public record Gres(List<Item> items, boolean whole, String fault) {
  private static final Pattern COUNT = Pattern.compile("(\\d{1,18})([kKmMgGtTpP]?)");
  private static final String SUFFIXES = "KMGTP";

  /** More than any node has, and than a snapshot takes. */
  private static final long MOST_GPUS = 1_000_000;

  private static final Pattern GPUS = Pattern.compile("(gres[:/])?gpu([:=(].*)?$", Pattern.DOTALL);

  /** The beginning of an entry of GPUs, and nothing more. */
  private static final Pattern CUT_NAME = Pattern.compile("(gres[:/]?)?(g|gp)?");

  /** What no model is called, but what a count that went wrong looks like. */
  private static final Pattern NO_MODEL = Pattern.compile("[-+].*|\\d+\\.\\d+|\\d{7,}");

  /**
   * One resource of the string.
   *
   * @param name {@code gpu}, {@code shard}, …
   * @param type the model, null when untyped
   * @param count how many; 1 where none is written, as Slurm's options have it
   * @param noConsume the {@code no_consume} flag: never used up
   * @param detail what stands in the last parentheses ({@code IDX:0-1}, {@code S:0}), or null
   */
  public record Item(String name, String type, long count, boolean noConsume, String detail) {}

  /**
   * Reads any text; what makes no sense is no GPU.
   *
   * @param text the string, or null
   */
  public static Gres read(String text) {
    List<Item> items = new ArrayList<>();
    boolean whole = true;
    String fault = null;
    String told = Words.orNull(text);
    if (told != null) {
      List<String> pieces = pieces(told);
      boolean counted = pieces.stream().anyMatch(p -> isGpus(p) && hasCount(p));
      for (int i = 0; i < pieces.size(); i++) {
        boolean last = i == pieces.size() - 1;
        Item item = item(pieces.get(i));
        if (item != null) {
          items.add(item);
        }
        whole &= item != null && !(last && !hasCount(pieces.get(i)));
        if (fault == null) {
          fault = fault(pieces.get(i), item, last, counted);
        }
      }
    }
    return new Gres(List.copyOf(items), whole && fault == null, fault);
  }

  private static String fault(String piece, Item item, boolean last, boolean counted) {
    if (piece.isEmpty()) {
      return "an entry between its commas is empty; it may have been cut";
    }
    if (last && depth(piece) > 0) {
      return "the parenthesis in " + Words.quoted(piece) + " is not closed; it may have been cut";
    }
    if (isGpus(piece) && item == null) {
      return Words.quoted(piece)
          + " cannot be read; GPUs are written gpu:COUNT or gpu:MODEL:COUNT, with details in"
          + " parentheses behind";
    }
    boolean begun = last && CUT_NAME.matcher(piece).matches();
    if (begun || isGpus(piece) && counted && !hasCount(piece)) {
      return Words.quoted(piece) + " has no count; it may have been cut";
    }
    return null;
  }

  private static boolean isGpus(String piece) {
    return GPUS.matcher(piece).lookingAt();
  }

  private static int depth(String piece) {
    int depth = 0;
    for (int i = 0; i < piece.length(); i++) {
      depth += piece.charAt(i) == '(' ? 1 : piece.charAt(i) == ')' && depth > 0 ? -1 : 0;
    }
    return depth;
  }

  /** GPUs by model, in the order in which the models are first named; equal models are added up. */
  public List<GpuCount> gpus() {
    Map<String, Long> counts = new LinkedHashMap<>();
    for (Item item : items) {
      if (item.name.equals("gpu")) {
        counts.merge(item.type == null ? "" : item.type, item.count, Gres::added);
      }
    }
    return counts.entrySet().stream()
        .map(e -> new GpuCount(e.getKey().isEmpty() ? null : e.getKey(), e.getValue()))
        .toList();
  }

  /** True when GPUs of this model are flagged {@code no_consume}: their use is not counted. */
  boolean unconsumed(String model) {
    return items.stream()
        .anyMatch(i -> i.name.equals("gpu") && i.noConsume && Objects.equals(i.type, model));
  }

  /** A count with Slurm's suffix (powers of 1024); empty when it is none. */
  static OptionalLong count(String text) {
    Matcher m = COUNT.matcher(text);
    if (!m.matches()) {
      return OptionalLong.empty();
    }
    long count = Long.parseLong(m.group(1));
    int power =
        m.group(2).isEmpty()
            ? 0
            : SUFFIXES.indexOf(Character.toUpperCase(m.group(2).charAt(0))) + 1;
    long factor = 1L << (10 * power);
    return count > Long.MAX_VALUE / factor ? OptionalLong.empty() : OptionalLong.of(count * factor);
  }

  // Sums of absurd counts stay at the largest number instead of turning negative.
  private static long added(long a, long b) {
    return a > Long.MAX_VALUE - b ? Long.MAX_VALUE : a + b;
  }

  /** Cuts at commas outside parentheses. */
  private static List<String> pieces(String text) {
    List<String> pieces = new ArrayList<>();
    int depth = 0;
    int from = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '(') {
        depth++;
      } else if (c == ')') {
        depth = Math.max(0, depth - 1);
      } else if (c == ',' && depth == 0) {
        pieces.add(text.substring(from, i).strip());
        from = i + 1;
      }
    }
    pieces.add(text.substring(from).strip());
    return pieces;
  }

  /** The item, or null when it cannot be read. */
  private static Item item(String piece) {
    String text = piece;
    if (text.startsWith("gres:") || text.startsWith("gres/")) {
      text = text.substring(5);
    }
    String detail = null;
    // The model itself may be "(null)", so only parentheses behind a count are a detail.
    while (text.endsWith(")") && !text.endsWith(":(null)")) {
      int open = text.lastIndexOf('(');
      if (open <= 0) {
        return null;
      }
      detail = text.substring(open + 1, text.length() - 1);
      text = text.substring(0, open);
    }
    List<String> parts = new ArrayList<>(List.of(text.split("[:=]", -1)));
    String name = parts.remove(0);
    if (name.isEmpty()) {
      return null;
    }
    long count = 1;
    if (!parts.isEmpty()) {
      OptionalLong last = count(parts.get(parts.size() - 1));
      if (last.isPresent()) {
        count = last.getAsLong();
        parts.remove(parts.size() - 1);
      }
    }
    boolean noConsume = parts.remove("no_consume");
    if (!name.equals("gpu") && parts.size() > 1) {
      return new Item(name, String.join(":", parts), count, noConsume, detail);
    }
    if (parts.size() > 1 || (parts.size() == 1 && !isType(parts.get(0)))) {
      return null;
    }
    boolean noModel = parts.size() == 1 && NO_MODEL.matcher(parts.get(0)).matches();
    if (name.equals("gpu") && (noModel || count > MOST_GPUS)) {
      return null;
    }
    String type = parts.isEmpty() || parts.get(0).equals("(null)") ? null : parts.get(0);
    return new Item(name, type, count, noConsume, detail);
  }

  private static boolean isType(String text) {
    return text.equals("(null)")
        || !text.isEmpty() && text.chars().noneMatch(c -> c == '(' || c == ')' || c <= ' ');
  }

  private static boolean hasCount(String piece) {
    String text = piece.replaceAll("(\\([^()]*\\))+$", "");
    return count(text.substring(Math.max(text.lastIndexOf(':'), text.lastIndexOf('=')) + 1))
            .isPresent()
        && !text.isEmpty();
  }
}
