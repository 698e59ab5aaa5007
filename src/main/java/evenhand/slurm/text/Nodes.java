package evenhand.slurm.text;

import evenhand.hostlist.HostList;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/**
 * The placements in all of an answer about nodes. Read are:
 *
 * <ul>
 *   <li>{@code scontrol show node -d -o}, also without {@code -o}. Without {@code -d} there is no
 *       GresUsed: then GPUs in use are known only where the site tracks {@code gres/gpu};
 *   <li>{@code sinfo -N -O 'NodeList:100|,Gres:200|,GresUsed:300|,StateLong:30'} and other tables
 *       with a header, by the names NODELIST (or HOSTNAMES), GRES, GRES_USED, STATE and, where
 *       present, PARTITION, CPUS(A/I/O/T), REASON; any separator or fixed widths;
 *   <li>the same without a header: the node first, then, anywhere, Gres and GresUsed side by side,
 *       and one state. A line that can be taken in two ways is a fault;
 *   <li>{@code sinfo --json}, {@code scontrol show nodes --json} and slurmrestd, 21.08 to 25.x.
 * </ul>
 *
 * A node that is listed once for each partition is one node. When a line of a node cannot be read
 * the node has no placements at all, since its other lines may be about another one.
 */
public final class Nodes {
  private static final Set<String> NAME_COLUMNS =
      new LinkedHashSet<>(List.of("NODELIST", "NODENAME", "NODE", "NODEHOST", "HOSTNAMES", "NAME"));
  private static final String[] NAME = NAME_COLUMNS.toArray(String[]::new);
  private static final String[] STATE = {"STATECOMPLETE", "STATELONG", "STATE", "STATECOMPACT"};
  private static final String[] PARTITION = {"PARTITION", "PARTITIONNAME"};
  private static final String[] CPUS = {"CPUS(A/I/O/T)", "CPUSSTATE"};
  private static final Set<String> MUST_BE_WHOLE =
      Set.of(
          "NODELIST",
          "NODENAME",
          "NODE",
          "NODEHOST",
          "HOSTNAMES",
          "NAME",
          "GRES",
          "GRESUSED",
          "STATE",
          "STATELONG",
          "STATECOMPACT",
          "STATECOMPLETE");
  private static final Pattern CPU_STATES = Pattern.compile("\\d{1,9}/\\d{1,9}/\\d{1,9}/\\d{1,9}");
  private static final Pattern GRES_CELL =
      Pattern.compile("\\(null\\)|(?:gres[:/])?[A-Za-z]\\w*:.+");

  private static final Table.Knowledge KNOWLEDGE =
      new Table.Knowledge() {
        @Override
        public Set<String> freeText() {
          return Set.of("REASON", "COMMENT", "EXTRA");
        }

        @Override
        public boolean plausible(String column, String cell) {
          return switch (column) {
            case "STATE", "STATELONG", "STATECOMPACT", "STATECOMPLETE" -> isState(cell);
            case "CPUS(A/I/O/T)", "CPUSSTATE" -> CPU_STATES.matcher(cell).matches();
            case "GRES", "GRESUSED" -> Gres.read(cell).whole();
            case "TIMESTAMP" -> cell.equals("Unknown") || cell.matches("[0-9T:-]{19}");
            default -> true;
          };
        }
      };

  // sinfo has some fifty fields; a line of more cells than this is none of its.
  private static final int MAX_CELLS = 500;

  private final Map<String, Node> nodes = new LinkedHashMap<>();
  private final Set<String> spoiled = new HashSet<>();
  private final List<Reading.Fault> faults = new ArrayList<>();

  private final HostBudget hosts = new HostBudget();

  private Nodes() {}

  /** Reads all of an answer; what cannot be read is a fault beside what can. */
  public static Reading<Placement> read(String text) {
    Nodes reading = new Nodes();
    if (text.isBlank()) {
      return Reading.nothing("the answer is empty: the command may have failed");
    }
    if (SlurmJson.looksLike(text)) {
      reading.json(text);
    } else if (text.startsWith("NodeName=") || text.contains("\nNodeName=")) {
      reading.scontrol(text);
    } else if (hasHeader(text)) {
      reading.table(text);
    } else if (hasHeader(withoutFirstLine(text))) {
      reading.table(withoutFirstLine(text)); // sinfo -l prints the date above its header
    } else {
      reading.byShape(text);
    }
    List<Placement> placements = new ArrayList<>();
    for (Node node : reading.nodes.values()) {
      if (!reading.spoiled.contains(node.name())) {
        try {
          placements.addAll(node.placements());
        } catch (IllegalArgumentException e) {
          reading.faults.add(new Reading.Fault(0, e.getMessage()));
        }
      }
    }
    return new Reading<>(placements, reading.faults);
  }

  private void add(Node node, int line) {
    Node before = nodes.get(node.name());
    try {
      nodes.put(node.name(), before == null ? node : before.with(node));
    } catch (IllegalArgumentException e) {
      spoil(List.of(node.name()), line, e.getMessage());
    }
  }

  private void spoil(List<String> names, int line, String sentence) {
    spoiled.addAll(names);
    faults.add(new Reading.Fault(line, sentence));
  }

  private void scontrol(String text) {
    Reading<ScontrolText.Record> records =
        ScontrolText.read(text, "NodeName", ScontrolText.NODE_KEYS);
    faults.addAll(records.faults());
    for (ScontrolText.Record record : records.values()) {
      String name = record.fields().get("NodeName");
      try {
        requireName(name);
        Map<String, String> fields = record.fields();
        String state = record.told("State");
        add(
            new Node(
                name,
                Gres.read(fields.get("Gres")),
                record.told("GresUsed") == null ? null : Gres.read(fields.get("GresUsed")),
                Tres.read(fields.get("CfgTRES")),
                fields.containsKey("AllocTRES") ? Tres.read(fields.get("AllocTRES")) : null,
                state == null ? null : NodeState.read(state),
                record.told("Reason"),
                partitions(List.of(fields.getOrDefault("Partitions", "").split(","))),
                idleCpus(record)),
            record.line());
      } catch (IllegalArgumentException e) {
        spoil(List.of(name), record.line(), sentence(name, e));
      }
    }
  }

  private static Long idleCpus(ScontrolText.Record record) {
    String used = record.told("CPUAlloc");
    String all = record.told("CPUEfctv") == null ? record.told("CPUTot") : record.told("CPUEfctv");
    boolean numbers =
        used != null && all != null && used.matches("\\d{1,9}") && all.matches("\\d{1,9}");
    return numbers ? Long.valueOf(all) - Long.valueOf(used) : null;
  }

  private static boolean hasHeader(String text) {
    String first = text.strip().split("\n", 2)[0];
    List<String> names = new ArrayList<>();
    for (String name : first.split("[|\t\u001f]|\\s+")) {
      names.add(Words.key(name));
    }
    return names.stream()
            .anyMatch(n -> NAME_COLUMNS.contains(n) && !n.equals("NAME") && !n.equals("NODE"))
        && names.stream().anyMatch(n -> n.startsWith("GRES") || n.startsWith("STATE"));
  }

  /** The text with its first line left blank, so that lines keep their numbers. */
  private static String withoutFirstLine(String text) {
    int end = text.indexOf('\n');
    return end < 0 ? "" : text.substring(end);
  }

  private void table(String text) {
    Table table = Table.read(text, KNOWLEDGE);
    if (!table.has("GRES")) {
      faults.add(
          new Reading.Fault(
              0, "the table has no GRES column; ask for NodeList, Gres, GresUsed and StateLong"));
      return;
    }
    faults.addAll(table.faults());
    for (Table.Row row : table.rows()) {
      List<String> names = List.of();
      try {
        names = names(row.cell(NAME));
        row.refuseIfCut(MUST_BE_WHOLE);
        String state = row.told(STATE);
        String partition = row.told(PARTITION);
        String cpus = row.told(CPUS);
        Gres used = row.told("GRESUSED") == null ? null : Gres.read(row.cell("GRESUSED"));
        for (String name : names) {
          add(
              new Node(
                  name,
                  Gres.read(row.cell("GRES")),
                  used,
                  null,
                  null,
                  state == null ? null : NodeState.read(state),
                  row.told("REASON"),
                  partition == null ? null : partitions(List.of(partition)),
                  names.size() > 1 ? null : idleCpus(cpus)),
              row.line());
        }
      } catch (IllegalArgumentException e) {
        spoil(names, row.line(), sentence(String.join(",", names), e));
      }
    }
  }

  private void byShape(String text) {
    int number = 0;
    for (String line : text.split("\n", -1)) {
      number++;
      if (line.isBlank()) {
        continue;
      }
      List<String> names = List.of();
      try {
        List<String> cells = new ArrayList<>();
        for (String cell : line.strip().split(line.indexOf('|') >= 0 ? "\\|" : "\\s+", -1)) {
          cells.add(cell.strip());
        }
        if (cells.size() > MAX_CELLS) {
          throw new IllegalArgumentException("the line has more than " + MAX_CELLS + " cells");
        }
        names = names(cells.remove(0));
        for (String name : names) {
          add(shaped(name, cells), number);
        }
      } catch (IllegalArgumentException e) {
        spoil(names, number, sentence(String.join(",", names), e));
      }
    }
  }

  private static Node shaped(String name, List<String> cells) {
    int gres = -1;
    NodeState state = null;
    Long cpusIdle = null;
    for (int i = 0; i < cells.size(); i++) {
      String cell = cells.get(i);
      if (GRES_CELL.matcher(cell).matches() && gres < 0) {
        gres = i;
      } else if (CPU_STATES.matcher(cell).matches() && cpusIdle == null) {
        cpusIdle = idleCpus(cell);
      } else if (isState(cell) && !cell.equals("Unknown")) { // so a user or a date is not told
        NodeState here = NodeState.read(cell);
        if (state != null && !state.equals(here)) {
          throw new IllegalArgumentException(
              "two of its cells read as a state; ask for a header (leave -h out)");
        }
        state = here;
      }
    }
    if (gres < 0 || state == null) {
      throw new IllegalArgumentException(
          "no Gres and state can be found in the line; a column may have been cut, or the header is"
              + " missing (leave -h out)");
    }
    String used = gres + 1 < cells.size() ? cells.get(gres + 1) : "";
    boolean told = GRES_CELL.matcher(used).matches() && !used.equals("(null)");
    return new Node(
        name,
        Gres.read(cells.get(gres)),
        told ? Gres.read(used) : null,
        null,
        null,
        state,
        null,
        null,
        cpusIdle);
  }

  private void json(String text) {
    Reading<JsonNode> records = SlurmJson.records(text, "nodes", "sinfo");
    faults.addAll(records.faults());
    for (JsonNode record : records.values()) {
      List<String> names = List.of();
      try {
        names = jsonNames(record);
        for (String name : names) {
          add(jsonNode(name, names.size(), record), 0);
        }
      } catch (IllegalArgumentException e) {
        spoil(names, 0, sentence(String.join(",", names), e));
      }
    }
  }

  private List<String> jsonNames(JsonNode record) {
    List<String> names = new ArrayList<>();
    if (SlurmJson.text(record.path("name")) != null) {
      names.add(SlurmJson.text(record.path("name")));
    } else {
      for (String list : SlurmJson.words(record.path("nodes").path("nodes"))) {
        names.addAll(hosts.expand(list));
      }
    }
    names.forEach(Nodes::requireName);
    if (names.isEmpty()) {
      throw new IllegalArgumentException("a record has no node name");
    }
    return names;
  }

  /** A record of "nodes" (one node, flat), or of "sinfo" since 23.02 (nodes alike, nested). */
  private static Node jsonNode(String name, int together, JsonNode record) {
    boolean nested = record.path("node").isObject();
    List<String> state =
        new ArrayList<>(
            SlurmJson.words(nested ? record.path("node").path("state") : record.path("state")));
    state.addAll(SlurmJson.words(record.path("state_flags")));
    JsonNode gres = nested ? record.path("gres").path("total") : record.path("gres");
    JsonNode used = nested ? record.path("gres").path("used") : record.path("gres_used");
    String usedText = SlurmJson.text(used);
    JsonNode partition = record.path("partition").path("name");
    List<String> partitions =
        nested ? SlurmJson.words(partition) : SlurmJson.words(record.path("partitions"));
    boolean partitionsTold = nested ? !partitions.isEmpty() : record.has("partitions");
    String reason =
        SlurmJson.text(nested ? record.path("reason").path("description") : record.path("reason"));
    JsonNode cpus = record.path("cpus");
    Long allCpus = SlurmJson.number(nested ? cpus.path("total") : cpus);
    Long usedCpus = SlurmJson.number(nested ? cpus.path("allocated") : record.path("alloc_cpus"));
    boolean cpusTold = allCpus != null && usedCpus != null && together == 1;
    return new Node(
        name,
        Gres.read(SlurmJson.text(gres)),
        // One text for several nodes says nothing of each.
        usedText == null || together > 1 ? null : Gres.read(usedText),
        nested ? null : Tres.read(SlurmJson.text(record.path("tres"))),
        record.has("tres_used") ? Tres.read(SlurmJson.text(record.path("tres_used"))) : null,
        state.isEmpty() ? null : NodeState.of(state),
        reason,
        partitionsTold ? partitions(partitions) : null,
        cpusTold ? (Long) (allCpus - usedCpus) : null);
  }

  private static Long idleCpus(String states) {
    return states != null && CPU_STATES.matcher(states).matches()
        ? Long.valueOf(states.split("/")[1])
        : null;
  }

  /** Names without the star of the default partition. */
  private static Set<String> partitions(List<String> names) {
    Set<String> partitions = new LinkedHashSet<>();
    for (String name : names) {
      String plain = Words.orNull(name.replaceAll("\\*$", ""));
      if (plain != null) {
        partitions.add(plain);
      }
    }
    return partitions;
  }

  private List<String> names(String list) {
    List<String> names = hosts.expand(list);
    if (names.isEmpty()) {
      throw new IllegalArgumentException("the line has no node name");
    }
    return names;
  }

  private static void requireName(String name) {
    if (HostList.expand(name).size() != 1) {
      throw new IllegalArgumentException(Words.quoted(name) + " is no name of one node");
    }
  }

  private static boolean isState(String cell) {
    try {
      NodeState.read(cell);
      return true;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static String sentence(String names, IllegalArgumentException e) {
    return names.isEmpty() || e.getMessage().contains(names)
        ? e.getMessage()
        : "node " + Words.quoted(names) + ": " + e.getMessage();
  }
}
