package evenhand.slurm.text;

import static evenhand.slurm.text.Fixtures.captured;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Placements out of all that Slurm says of its nodes. */
class NodesTest {

  private static List<String> shown(Reading<Placement> reading) {
    return reading.values().stream()
        .map(
            p ->
                p.node()
                    + " "
                    + p.model()
                    + " "
                    + p.used()
                    + "/"
                    + p.capacity()
                    + " idle "
                    + p.idle()
                    + " "
                    + p.state()
                    + " "
                    + p.placeable())
        .collect(Collectors.toList());
  }

  private static Placement only(String text) {
    Reading<Placement> reading = Nodes.read(text);
    assertThat(reading.faults()).isEmpty();
    assertThat(reading.values()).hasSize(1);
    return reading.values().get(0);
  }

  private static void refused(String text, String sentence) {
    Reading<Placement> reading = Nodes.read(text);
    assertThat(reading.values()).isEmpty();
    assertThat(reading.faults()).isNotEmpty();
    assertThat(reading.faults().get(0).sentence()).contains(sentence);
  }

  @Test
  void json() {
    Reading<Placement> reading = Nodes.read(captured("nodes-busy.json"));
    assertThat(reading.faults()).isEmpty();
    assertThat(shown(reading))
        .containsExactly(
            "n1 4090 2/2 idle 0 up yes",
            "n2 4090 2/2 idle 0 up yes",
            "n3 3080ti 2/2 idle 0 up no",
            "n4 4090 1/4 idle 3 up yes",
            "n4 5090 3/4 idle 1 up yes");
    assertThat(reading.values().get(3).partitions()).containsExactly("main", "high");
  }

  @Test
  void jsonWithAnErrorIsNoEmptyCluster() {
    refused(captured("controller-down.json"), "Slurm answered with an error");
    assertThat(Nodes.read("{\"meta\":{},\"errors\":[],\"nodes\":[]}").faults()).isEmpty();
    refused("{\"meta\":{}}", "none of the lists");
    refused("{\"nodes\":[", "not whole JSON");
    refused("{\"nodes\":[{\"gres\":NaN}]}", "not whole JSON");
    refused("[".repeat(100_000), "not whole JSON");
  }

  @Test
  void jsonOfOtherVersions() {
    // 21.08: the drain stands only in the flags
    Placement old =
        only(
            "{\"name\":\"n1\",\"state\":\"idle\",\"state_flags\":[\"DRAIN\"],"
                + "\"gres\":\"gpu:v100:2\",\"gres_used\":\"gpu:v100:0(IDX:N/A)\"}");
    assertThat(old.placeable()).isEqualTo("no");
    assertThat(old.idle()).isEqualTo(2);
    // 24.05: allocated, though neither processors nor TRES tell of it
    Placement allocated =
        only(
            "{\"name\":\"g1\",\"state\":[\"ALLOCATED\"],\"gres\":\"gpu:h100:4\","
                + "\"gres_used\":\"gpu:h100:4(IDX:0-3)\",\"alloc_cpus\":0,\"cpus\":32,"
                + "\"tres\":\"cpu=32,mem=512G,billing=32\",\"tres_used\":\"\"}");
    assertThat(allocated.idle()).isZero();
    // finishing: idle by count, not placeable yet
    Placement finishing =
        only(
            "{\"name\":\"g1\",\"state\":[\"IDLE\",\"COMPLETING\"],\"gres\":\"gpu:h100:4\","
                + "\"gres_used\":\"gpu:h100:0(IDX:N/A)\"}");
    assertThat(finishing.idle()).isEqualTo(4);
    assertThat(finishing.placeable()).isEqualTo("no");
    assertThat(finishing.state()).isEqualTo("up");
    Placement twice =
        only(
            "{\"name\":\"g1\",\"state\":[\"INVALID\",\"INVALID\"],\"gres\":\"\",\"cpu_load\":4294967294}");
    assertThat(twice.flags()).containsExactly("INVALID");
    assertThat(twice.placeable()).isEqualTo("no");
  }

  @Test
  void sinfoJsonSince2302() {
    String record =
        "{\"node\":{\"state\":[\"MIXED\"]},\"nodes\":{\"nodes\":[\"%s\"]},"
            + "\"gres\":{\"total\":\"gpu:h100:8\",\"used\":\"gpu:h100:3(IDX:0-2)\"},"
            + "\"cpus\":{\"total\":64,\"allocated\":12},\"reason\":{\"description\":\"\"},"
            + "\"partition\":{\"name\":\"%s\"}}";
    String twoPartitions =
        "{\"sinfo\":[" + record.formatted("n1", "a") + "," + record.formatted("n1", "b") + "]}";
    Placement placement = only(twoPartitions);
    assertThat(placement.idle()).isEqualTo(5);
    assertThat(placement.partitions()).containsExactly("a", "b");
    // one text of use for two nodes tells nothing of each
    Reading<Placement> grouped =
        Nodes.read("{\"sinfo\":[" + record.formatted("n[1-2]", "a") + "]}");
    assertThat(grouped.values()).hasSize(2).allMatch(p -> p.used() == null && p.error() != null);
  }

  @Test
  void scontrolWithDetails() {
    assertThat(shown(Nodes.read(captured("node-detail.scontrol"))))
        .containsExactly("n4 4090 1/4 idle 3 up yes", "n4 5090 3/4 idle 1 up yes");
  }

  @Test
  void scontrolWithoutDetailsDoesNotTellUse() {
    Reading<Placement> reading = Nodes.read(captured("nodes-draining.scontrol"));
    assertThat(reading.values()).hasSize(5).allMatch(p -> p.used() == null && p.idle() == null);
    assertThat(reading.values().get(0).error()).contains("show node -d");
    Placement n4 = reading.values().get(4);
    assertThat(n4.state()).isEqualTo("draining");
    assertThat(n4.reason()).isEqualTo("maint: fan swap, ticket=42 [root@2026-11-30T03:08:10]");
  }

  @Test
  void scontrolTellsUseWhereGpusAreTracked() {
    assertThat(shown(Nodes.read(captured("nodes-tracked.scontrol"))))
        .containsExactly(
            "n1 4090 0/2 idle 2 up yes",
            "n2 4090 1/2 idle 1 up yes",
            "n3 3080ti 0/2 idle 2 up yes",
            "n4 4090 0/4 idle 4 up yes",
            "n4 5090 0/4 idle 4 up yes");
  }

  @Test
  void gresCountsBeforeTresThatDoNotKnowGpus() {
    Placement p =
        only(
            "NodeName=n1 Gres=gpu:h100:8 State=MIXED Partitions=a CfgTRES=cpu=192,mem=800G"
                + " AllocTRES=cpu=64 GresUsed=gpu:h100:5(IDX:0-4)");
    assertThat(p.capacity()).isEqualTo(8);
    assertThat(p.used()).isEqualTo(5);
    assertThat(p.idle()).isEqualTo(3);
  }

  @Test
  void freeTextDoesNotStartFields() {
    Placement p =
        only(
            "NodeName=n1 OS=Linux 6.8.0 #32-Ubuntu SMP State=IDLE+DRAIN Reason=prolog"
                + " instance=i-0123 job=42: down (0 < 1) [root@2026-07-01T10:00:00]"
                + " Extra={\"lastProbe\":\"2026 07\"}");
    assertThat(p.flags()).containsExactly("DRAIN");
    assertThat(p.reason())
        .isEqualTo("prolog instance=i-0123 job=42: down (0 < 1) [root@2026-07-01T10:00:00]");
    // a reason that imitates a field: which one is real cannot be told
    refused("NodeName=n1 State=IDLE+DRAIN Reason=x State=IDLE Gres=gpu:1", "State stands twice");
  }

  @Test
  void nodesWithoutGpusAreListed() {
    assertThat(shown(Nodes.read("NodeName=s0 CPUTot=192 Gres=(null) State=IDLE Partitions=all")))
        .containsExactly("s0 null 0/0 idle 0 up yes");
    assertThat(shown(Nodes.read("c1|(null)|gpu:0|idle")))
        .containsExactly("c1 null 0/0 idle 0 up yes");
    String table =
        "NODELIST AVAIL MEMORY ALLOCMEM GRES GRES_USED PARTITION\nc1 up 193000 0 (null) (null) cpu\n";
    Placement withoutState = only(table);
    assertThat(withoutState.capacity()).isZero();
    assertThat(withoutState.placeable()).isEqualTo("no");
    assertThat(withoutState.base()).isNull();
  }

  @Test
  void nodeInNoPartitionTakesNoJob() {
    Placement p = only("NodeName=n1 State=IDLE Gres=gpu:1 GresUsed=gpu:0");
    assertThat(p.partitions()).isEmpty();
    assertThat(p.placeable()).isEqualTo("no");
    assertThat(p.state()).isEqualTo("up");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // models that only one side names
        "gpu:4           |gpu:a100:2(IDX:0-1)          |null 2/4",
        "gpu:a100:4      |gpu:3                        |a100 3/4",
        "gpu:a100:4      |gpu:(null):3(IDX:0-2)        |a100 3/4",
        "gpu:H100:4      |gpu:h100:1(IDX:0)            |H100 1/4",
        "gpu:a:2,gpu:b:2 |gpu:0                        |a 0/2, b 0/2",
        "gpu:a:2,gpu:b:2 |gpu:4                        |a 2/2, b 2/2",
        "gpu:a:2,gpu:b:2 |gpu:a:0(IDX:N/A),gpu:b:1(IDX:2) |a 0/2, b 1/2",
        "gpu:v100:16     |gpu:v100:16(IDX:0-15)        |v100 16/16",
        // what is not consumed is never used
        "gpu:no_consume:4|gpu:no_consume:3             |null 0/4",
        // a GPU with shards in use is not whole
        "gpu:4,shard:20  |gpu:1(IDX:0),shard:8(-/5,5/5,3/5,0/5) |null 3/4",
        "gpu:4,shard:20  |gpu:0,shard:2                |null 2/4",
        "gpu:4,mps:400   |gpu:0,mps:50(50/100,0/100,0/100,0/100)|null 1/4",
        "gpu:4,shard:20  |gpu:1(IDX:0),shard:0         |null 1/4",
      })
  void use(String gres, String used, String expected) {
    Reading<Placement> reading =
        Nodes.read("NODELIST|GRES|GRES_USED|STATE\nn1|" + gres.strip() + "|" + used + "|mixed\n");
    assertThat(reading.faults()).isEmpty();
    assertThat(
            reading.values().stream()
                .map(p -> p.model() + " " + p.used() + "/" + p.capacity())
                .collect(Collectors.joining(", ")))
        .isEqualTo(expected);
  }

  @Test
  void useThatCannotBeSpread() {
    refused("n1|gpu:a:2,gpu:b:2|gpu:3|mixed", "does not say of which model");
    refused("n1|gpu:a:2,gpu:b:2|gpu:c:1|mixed", "names the model c");
  }

  @Test
  void sinfoInFixedWidths() {
    assertThat(shown(Nodes.read(captured("nodes-draining-wide.sinfo"))))
        .containsExactly(
            "n1 4090 2/2 idle 0 up yes",
            "n2 4090 0/2 idle 2 draining no",
            "n3 3080ti 2/2 idle 0 up no",
            "n4 4090 1/4 idle 3 draining no",
            "n4 5090 3/4 idle 1 draining no");
  }

  @Test
  void cutColumnsAreFaults() {
    Reading<Placement> glued = Nodes.read(captured("nodes-cut.sinfo"));
    assertThat(glued.values()).isEmpty();
    assertThat(glued.faults()).hasSize(4);
    String header =
        "NODELIST            GRES                GRES_USED           STATE               \n";
    Reading<Placement> fixed =
        Nodes.read(
            header
                + "n1                  gpu:4090:2          gpu:4090:2(IDX:0-1) mixed               \n"
                + "n4                  gpu:4090:4,gpu:5090:gpu:4090:1(IDX:0),gpmixed               \n");
    assertThat(shown(fixed)).containsExactly("n1 4090 2/2 idle 0 up yes");
    assertThat(fixed.faults()).hasSize(1);
    assertThat(fixed.faults().get(0).line()).isEqualTo(3);
    // with a separator: the cell fills its width, so it may go on
    Reading<Placement> padded =
        Nodes.read(
            "NODELIST  |GRES                |GRES_USED           |STATE     \n"
                + "n1        |gpu:4090:2          |gpu:4090:2(IDX:0-1) |mixed     \n"
                + "n4        |gpu:4090:4,gpu:509:4|gpu:4090:1(IDX:0)   |mixed     \n");
    assertThat(shown(padded)).containsExactly("n1 4090 2/2 idle 0 up yes");
    assertThat(padded.faults().get(0).text()).startsWith("line 3: node 'n4': the column GRES");
    refused(
        "NODELIST|GRES|GRES_USED|STATE\nn1|gpu:4090:4,gpu:5090:|gpu:0|idle", "may have been cut");
  }

  @Test
  void namesOfHostsThatHoldSeveralNodes() {
    refused(
        "NODEHOST|GRES|GRES_USED|STATE\nvm|gpu:a:2|gpu:a:0|idle\nvm|gpu:b:2|gpu:b:0|idle",
        "contradict each other");
  }

  @Test
  void oneNodeInTwoPartitions() {
    Reading<Placement> reading =
        Nodes.read(
            "NODELIST|GRES|GRES_USED|STATE|PARTITION|CPUS(A/I/O/T)|REASON\n"
                + "e1|gpu:2|gpu:1|mixed|debug*|4/60/0/64|none\n"
                + "e1|gpu:2|gpu:1|mixed|idle|4/60/0/64|none\n"
                + "g1|gpu:2|gpu:1|down*|debug*|0/0/64/64|Not responding\n");
    assertThat(reading.values()).hasSize(2);
    assertThat(reading.values().get(0).partitions()).containsExactly("debug", "idle");
    assertThat(reading.values().get(1).reason()).isEqualTo("Not responding");
    assertThat(reading.values().get(1).state()).isEqualTo("down");
  }

  @Test
  void groupsOfNodes() {
    assertThat(Nodes.read("NODELIST|GRES|GRES_USED|STATE\nc[001-003]|gpu:4|gpu:0|idle").values())
        .extracting(Placement::node)
        .containsExactly("c001", "c002", "c003");
  }

  @Test
  void linesWithoutHeaderByTheirShape() {
    Reading<Placement> reading =
        Nodes.read(
            """
            n1 mix 64/0/0/64 gpu:a100:4 gpu:a100:2(IDX:0-1)
            n2 drng 32/0/32/64 gpu:a100:4 gpu:a100:2(IDX:0-1)
            n3 resv 0/64/0/64 gpu:a100:4 gpu:a100:0(IDX:N/A)
            n4 draining gpu:gtx1060:8 gpu:gtx1060:3(IDX:0-2)
            g3 inval gpu:a100:8 gpu:a100:0(IDX:N/A)
            g5 15867 15867 2/30/0/32 mixed gpu gpu:a:2,gpu:b:2 gpu:a:0(IDX:N/A),gpu:b:1(IDX:2)
            """);
    assertThat(shown(reading))
        .containsExactly(
            "n1 a100 2/4 idle 2 up no", // no processor left
            "n2 a100 2/4 idle 2 draining no",
            "n3 a100 0/4 idle 4 draining no",
            "n4 gtx1060 3/8 idle 5 draining no",
            "g3 a100 0/8 idle 8 down no",
            "g5 a 0/2 idle 2 up yes",
            "g5 b 1/2 idle 1 up yes");
  }

  @Test
  void whatIsNoAnswer() {
    refused("", "empty");
    refused("Node nx not found", "no Gres and state");
    refused("slurm_load_node error: Unable to contact slurm controller", "no Gres and state");
    refused("NODELIST NODES PARTITION STATE\nn1 1 main* idle", "no GRES column");
    refused("Mon Nov 30 03:07:43 2026\nNODELIST NODES PARTITION STATE\nn1 1 main* idle", "no GRES");
    refused("NodeName= State=IDLE Gres=gpu:1", "no name of one node");
    refused("NodeName=a[1-2] State=IDLE Gres=gpu:1", "no name of one node");
  }

  @Test
  void oneBadRecordSpoilsOnlyItself() {
    Reading<Placement> reading =
        Nodes.read(
            "NodeName=n1 State=IDLE Gres=gpu:1 GresUsed=gpu:0 Partitions=a\n"
                + "NodeName=n2 State=WHAT Gres=gpu:1 GresUsed=gpu:0 Partitions=a\n"
                + "NodeName=n3 State=IDLE Gres=gpu:1 GresUsed=gpu:0 Partitions=a\n");
    assertThat(reading.values()).extracting(Placement::node).containsExactly("n1", "n3");
    assertThat(reading.faults()).hasSize(1);
    assertThat(reading.faults().get(0).text()).startsWith("line 2: ").contains("'WHAT'");
  }
}
