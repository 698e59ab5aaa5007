package evenhand.slurm.text;

import evenhand.hostlist.HostList;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/**
 * The command {@code slurm parse KIND}: shows an operator how Slurm's text is understood.
 *
 * <p>The kinds of one value ({@code gres tres state hostlist limit elapsed jobid}) give a line of
 * JSON for a line of input; an empty line is the empty text. The kinds of a whole answer ({@code
 * nodes jobs acct}) give one placement or one job a line, see {@link Nodes}, {@link Jobs}, {@link
 * Accounting}. What cannot be read gives {@code {"error":"…"}}, after the good records where the
 * input is a whole answer. A placement whose use is not told stands with {@code "used":null} and an
 * {@code error} of its own.
 *
 * <p>To wire it into a command line, hand over standard input and output, both UTF-8 (with
 * malformed bytes replaced, as job names are not always UTF-8), and exit with the status returned:
 *
 * <pre>{@code
 * int status = Parse.run(kind, new InputStreamReader(System.in, UTF_8), System.out);
 * }</pre>
 *
 * KIND is a positional parameter; {@link #KINDS} lists the kinds for {@code --help}. For text
 * printed in another zone than UTC use {@link #run(String, Reader, Appendable, ZoneId)}.
 */
public final class Parse {
  /** Every line could be read. */
  public static final int DONE = 0;

  /** Something could not be read. */
  public static final int FAULTY = 1;

  /** There is no such kind, or the input could not be read at all. */
  public static final int WRONG_USE = 2;

  /** The longest line of the one-line kinds, in characters. */
  public static final int MAX_LINE = 4 << 20;

  /** The longest whole answer, in characters: some 80,000 jobs in JSON. */
  public static final int MAX_ANSWER = 256 << 20;

  private static final int BYTE_ORDER_MARK = 0xFEFF;

  private static final Map<String, Function<String, Object>> LINES = new LinkedHashMap<>();
  private static final Map<String, BiFunction<String, ZoneId, Reading<?>>> ANSWERS =
      new LinkedHashMap<>();

  static {
    LINES.put("gres", text -> Map.of("gpus", whole(Gres.read(text)).gpus()));
    LINES.put("tres", text -> single("gpus", Tres.read(text).gpus()));
    LINES.put("state", text -> state(NodeState.read(text)));
    LINES.put("hostlist", text -> Map.of("hosts", HostList.expand(text)));
    LINES.put("limit", text -> span(Times.limit(text)));
    LINES.put("elapsed", text -> span(Times.elapsed(text)));
    LINES.put("jobid", JobId::read);
    ANSWERS.put("nodes", (text, zone) -> Nodes.read(text));
    ANSWERS.put("jobs", Jobs::read);
    ANSWERS.put("acct", Accounting::read);
  }

  /** The kinds, with what each reads. */
  public static final Map<String, String> KINDS =
      Collections.unmodifiableMap(
          new TreeMap<>(
              Map.of(
                  "gres", "a Gres or GresUsed string a line",
                  "tres", "a TRES string a line",
                  "state", "a node state a line",
                  "hostlist", "a host list a line",
                  "limit", "a time limit a line",
                  "elapsed", "an elapsed time a line",
                  "jobid", "a job id a line",
                  "nodes", "all of scontrol show node -d -o, sinfo -N -O, or --json",
                  "jobs", "all of squeue with its header, scontrol show job -o, or --json",
                  "acct", "all of sacct -P with its header, or --json")));

  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .enable(StreamWriteFeature.WRITE_BIGDECIMAL_AS_PLAIN)
          .build();

  private Parse() {}

  /** As {@link #run(String, Reader, Appendable, ZoneId)}, with dates printed in UTC. */
  public static int run(String kind, Reader in, Appendable out) {
    return run(kind, in, out, ZoneOffset.UTC);
  }

  /**
   * Reads all of the input and prints what it means.
   *
   * @param kind one of {@link #KINDS}
   * @param zone the zone in which text commands printed their dates; JSON needs none
   * @return {@link #DONE}, {@link #FAULTY} or {@link #WRONG_USE}
   * @throws UncheckedIOException when the output cannot be written
   */
  public static int run(String kind, Reader in, Appendable out, ZoneId zone) {
    try {
      if (LINES.containsKey(kind)) {
        return lines(LINES.get(kind), withoutMark(in), out);
      }
      if (ANSWERS.containsKey(kind)) {
        return answer(ANSWERS.get(kind), withoutMark(in), out, zone);
      }
      error(
          out,
          "there is no kind "
              + Words.quoted(String.valueOf(kind))
              + "; the kinds are "
              + String.join(", ", LINES.keySet())
              + ", "
              + String.join(", ", ANSWERS.keySet()));
      return WRONG_USE;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The input without the byte order mark that some editors and shells put before a text. */
  private static BufferedReader withoutMark(Reader in) throws IOException {
    BufferedReader text = new BufferedReader(in);
    text.mark(1);
    if (text.read() != BYTE_ORDER_MARK) {
      text.reset();
    }
    return text;
  }

  private static int lines(Function<String, Object> reading, BufferedReader in, Appendable out)
      throws IOException {
    int status = DONE;
    StringBuilder line = new StringBuilder();
    boolean any = false;
    boolean tooLong = false;
    for (int c = in.read(); c >= 0 || any; c = in.read()) {
      if (c >= 0 && c != '\n') {
        any = true;
        // What is beyond the bound is passed over, not kept.
        tooLong |= line.length() >= MAX_LINE;
        if (!tooLong) {
          line.append((char) c);
        }
        continue;
      }
      if (tooLong) {
        error(out, "the line is longer than " + MAX_LINE + " characters");
        status = FAULTY;
      } else if (!line(reading, withoutReturn(line), out)) {
        status = FAULTY;
      }
      line.setLength(0);
      any = false;
      tooLong = false;
      if (c < 0) {
        break;
      }
    }
    return status;
  }

  private static boolean line(Function<String, Object> reading, String text, Appendable out)
      throws IOException {
    try {
      print(out, reading.apply(text));
      return true;
    } catch (IllegalArgumentException e) {
      error(out, e.getMessage());
      return false;
    }
  }

  private static String withoutReturn(StringBuilder line) {
    int end = line.length();
    return line.substring(0, end > 0 && line.charAt(end - 1) == '\r' ? end - 1 : end);
  }

  private static int answer(
      BiFunction<String, ZoneId, Reading<?>> reading, Reader in, Appendable out, ZoneId zone)
      throws IOException {
    StringBuilder text = new StringBuilder();
    char[] buffer = new char[1 << 16];
    for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
      if (text.length() + n > MAX_ANSWER) {
        error(out, "the input is longer than " + MAX_ANSWER + " characters");
        return FAULTY;
      }
      text.append(buffer, 0, n);
    }
    Reading<?> read = reading.apply(text.toString(), zone);
    int status = read.faults().isEmpty() ? DONE : FAULTY;
    for (Object value : read.values()) {
      Map<String, Object> fields = told(value);
      status = fields.containsKey("error") ? FAULTY : status;
      print(out, fields);
    }
    for (Reading.Fault fault : read.faults()) {
      error(out, fault.text());
    }
    return status;
  }

  /** A record's fields; an error that is none is left out. */
  private static Map<String, Object> told(Object value) {
    Map<String, Object> fields = new LinkedHashMap<>();
    MAPPER.valueToTree(value).properties().forEach(e -> fields.put(e.getKey(), e.getValue()));
    if (value instanceof Placement placement && placement.error() == null) {
      fields.remove("error");
    }
    return fields;
  }

  private static Gres whole(Gres gres) {
    if (gres.fault() != null) {
      throw new IllegalArgumentException(gres.fault());
    }
    return gres;
  }

  private static Map<String, Object> state(NodeState state) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("placeable", state.placeable().name().toLowerCase(Locale.ROOT));
    fields.put("base", state.base());
    fields.put("flags", state.flags());
    return fields;
  }

  private static Map<String, Object> span(Times.Span span) {
    if (span.unknown()) {
      return Map.of("unknown", true);
    }
    Map<String, Object> fields = single("seconds", span.seconds());
    if (span.unlimited()) {
      fields.put("limit", "none");
    }
    return fields;
  }

  private static Map<String, Object> single(String name, Object value) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put(name, value);
    return fields;
  }

  private static void error(Appendable out, String sentence) throws IOException {
    print(out, Map.of("error", sentence));
  }

  private static void print(Appendable out, Object value) throws IOException {
    out.append(MAPPER.writeValueAsString(value)).append('\n');
  }
}
