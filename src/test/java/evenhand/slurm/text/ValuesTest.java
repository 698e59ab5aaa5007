package evenhand.slurm.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Single values of Slurm's text. */
class ValuesTest {

  private static String shown(List<GpuCount> gpus) {
    return gpus.stream()
        .map(g -> (g.model() == null ? "-" : g.model()) + "=" + g.count())
        .collect(Collectors.joining(" "));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        // sockets and index lists, with commas inside
        "gpu:8(S:0-3);-=8",
        "gpu:tesla:3(IDX:0,2-3);tesla=3",
        "gpu:a40:1(S:0,2,4,6,8,10);a40=1",
        "gpu:v100-32gb:13(IDX:0-3,5-7,9-11,13-15),gpu:x:1;v100-32gb=13 x=1",
        "gpu:tesla:0(IDX:N/A);tesla=0",
        // no model, or one that is not there
        "gpu:(null):0(IDX:N/A);-=0",
        "gpu:(null):2(IDX:0-1);-=2",
        "gpu;-=1",
        // models: case, numbers, dots, MIG profiles
        "gpu:P100:2(IDX:3,7);P100=2",
        "gpu:4090:4,gpu:5090:4;4090=4 5090=4",
        "gpu:ampere:6(S:0-1),gpu:1g.10gb:28(S:0-1);ampere=6 1g.10gb=28",
        "gpu:h200_nvl_4g.71gb:2;h200_nvl_4g.71gb=2",
        "gpu:brand_model-pcie.10:2(S:0-1);brand_model-pcie.10=2",
        // prefixes and equals signs; equal models are one
        "gres:gpu:v100-32g:2,gres:pfsdir:1;v100-32g=2",
        "gres/gpu:a100:2;a100=2",
        "gres/gpu:v100=2,gres/gpu:v100=4;v100=6",
        "gres/gpu=3;-=3",
        // flags and suffixes
        "gpu:no_consume:4;-=4",
        "gpu:tesla:no_consume:2,bandwidth:lustre:no_consume:4G;tesla=2",
        "gpu:1K;-=1024",
        "gpu:2k;-=2048",
        // other resources
        "other:a:2,gpu:b:3,other:c:2;b=3",
        "gpu_mem:16280,gpu:1;-=1",
        "gpu:h100:1,shard:h10;h100=1",
        "gpu:1(IDX:0),shard:8(-/5,5/5,3/5,0/5);-=1",
        "gpu:p100:1(IDX:0),mps:0;p100=1",
        "mig:a100_3g:7,gpu:h100:4;h100=4",
        "gpu:a100:2(IDX:0,2),nsight:0,pfsdir:scratch:0;a100=2",
      })
  void gres(String text, String gpus) {
    assertThat(shown(Gres.read(text).gpus())).isEqualTo(gpus);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", "(null)", "N/A", "tmp:844G", "asdf123:123:123:123", "gpu:a:b:3", "gpu:", ":::", ",,,",
        "(", ")", "((((", "gpu)(:4", "gpu:(a:2", "GPU:4", "gpus:4", "=", "gpu:x:-1",
        "gpu:99999999999999999999", "gpu:9999999999999999T", "\u0000\u0001", "gpu:NaN:NaN:",
      })
  void junkIsNoGpu(String text) {
    assertThat(Gres.read(text).gpus()).allMatch(g -> g.count() <= 1);
  }

  @Test
  void gresCutShortIsNotWhole() {
    assertThat(Gres.read("gpu:4090:4,gpu:5090:4").whole()).isTrue();
    assertThat(Gres.read("gpu:4090:4,gpu:5090:").whole()).isFalse();
    assertThat(Gres.read("gpu:4090:4,gp").whole()).isFalse();
    assertThat(Gres.read("gpu:4090:2(IDX:0-").whole()).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      nullValues = "null",
      value = {
        "gres/gpu:a100=1,gres/gpu=1;1;a100=1",
        "cpu=4,mem=32G,node=1,gres/gpu=3,gres/gpu:a=1;3;a=1 -=2",
        "gres/gpu:a=1,gres/gpu:b=2;3;a=1 b=2",
        "cpu=32,mem=512G,billing=32;0;''",
        "gres/gpumem=16G,gres/gpuutil=50,gres/gpu=2;2;-=2",
        "(null);0;''",
        "cpu=4,gres/gp;null;''",
        "cpu=4,gres/gpu=;null;''",
        "cpu=4,mem=32G+;null;''",
        "gres/gpu=2,;null;''",
        "+;null;''",
      })
  void tres(String text, Long total, String byModel) {
    assertThat(Tres.read(text).gpus()).isEqualTo(total);
    assertThat(shown(Tres.read(text).byModel())).isEqualTo(byModel);
  }

  @ParameterizedTest
  @CsvSource({
    "idle, YES, IDLE, UP, ''",
    "mix, YES, MIXED, UP, ''",
    "alloc, NO, ALLOCATED, UP, ''",
    "alloc+, NO, ALLOCATED, UP, COMPLETING",
    "idle*, NO, IDLE, DOWN, NOT_RESPONDING",
    "mixed-, POLICY, MIXED, UP, PLANNED",
    "idle~, POLICY, IDLE, UP, POWERED_DOWN",
    "idle#, POLICY, IDLE, UP, POWERING_UP",
    "idle!, NO, IDLE, DRAINING, POWER_DOWN",
    "idle%, NO, IDLE, DOWN, POWERING_DOWN",
    "idle$, NO, IDLE, DRAINING, MAINTENANCE",
    "idle@, POLICY, IDLE, UP, REBOOT_REQUESTED",
    "idle^, NO, IDLE, DOWN, REBOOT_ISSUED",
    "drng@, NO, DRAINING, DRAINING, DRAIN REBOOT_REQUESTED",
    "drain, NO, DRAINED, DRAINING, DRAIN",
    "drained*, NO, DRAINED, DOWN, DRAIN NOT_RESPONDING",
    "fail*, NO, FAIL, DOWN, FAIL NOT_RESPONDING",
    "failing, NO, FAILING, DRAINING, FAIL",
    "comp, NO, COMPLETING, UP, COMPLETING",
    "maint, NO, MAINTENANCE, DRAINING, MAINTENANCE",
    "resv, NO, RESERVED, DRAINING, RESERVED",
    "plnd, POLICY, PLANNED, UP, PLANNED",
    "inval, NO, INVALID, DOWN, INVALID",
    "unk*, NO, UNKNOWN, DOWN, NOT_RESPONDING",
    "futr, NO, FUTURE, DOWN, ''",
    "DOWN*+DRAIN, NO, DOWN, DOWN, NOT_RESPONDING DRAIN",
    "MIXED+DRAIN, NO, MIXED, DRAINING, DRAIN",
    "IDLE+PLANNED, POLICY, IDLE, UP, PLANNED",
    "idle+cloud+powered_down, POLICY, IDLE, UP, CLOUD POWERED_DOWN",
    "IDLE+CLOUD+POWERED_DOWN+NOT_RESPONDING, NO, IDLE, DOWN, CLOUD POWERED_DOWN NOT_RESPONDING",
    "IDLE+POWER, POLICY, IDLE, UP, POWERED_DOWN",
    "IDLE+DYNAMIC_NORM, YES, IDLE, UP, DYNAMIC_NORM",
    "IDLE+MAINTENANCE+RESERVED, NO, IDLE, DRAINING, MAINTENANCE RESERVED",
    "DOWN+CLOUD+REBOOT_ISSUED, NO, DOWN, DOWN, CLOUD REBOOT_ISSUED",
    "RESERVED+DRAIN, NO, RESERVED, DRAINING, RESERVED DRAIN",
    "IDLE+COMPLETING, NO, IDLE, UP, COMPLETING",
    "INVALID+INVALID, NO, INVALID, DOWN, INVALID",
    // a flag of a Slurm to come: the site decides, and sees it
    "IDLE+SHINY, POLICY, IDLE, UP, SHINY",
  })
  void nodeState(
      String text,
      NodeState.Placeable placeable,
      String base,
      NodeState.Health health,
      String flags) {
    NodeState state = NodeState.read(text);
    assertThat(state.placeable()).isEqualTo(placeable);
    assertThat(state.base()).isEqualTo(base);
    assertThat(state.health()).isEqualTo(health);
    assertThat(String.join(" ", state.flags())).isEqualTo(flags);
  }

  @Test
  void nodeStateOfJson() {
    assertThat(NodeState.of(List.of("idle", "DRAIN"))).isEqualTo(NodeState.read("IDLE+DRAIN"));
    assertThat(NodeState.of(List.of("IDLE", "NO_RESPOND"))).isEqualTo(NodeState.read("idle*"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "*", "+", "MIXED+", "gpu", "shiny", "main*", "100", "\u0000"})
  void noNodeState(String text) {
    assertThatThrownBy(() -> NodeState.read(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("node state");
  }

  @ParameterizedTest
  @CsvSource({
    "90, 5400",
    "4:00, 240",
    "30:15, 1815",
    "8:00:00, 28800",
    "2-12, 216000",
    "1-12:30, 131400",
    "1-02:03:04, 93784",
    "365-00:00:00, 31536000",
    "00:01:00, 60",
    "0, 0",
    "14-00:00:0, 1209600",
  })
  void limit(String text, long seconds) {
    assertThat(Times.limit(text).wholeSeconds()).isEqualTo(seconds);
    assertThat(Times.limit(text).unlimited()).isFalse();
  }

  @Test
  void limitsWithoutSeconds() {
    for (String none : List.of("UNLIMITED", "infinite", "-1", "4294967295")) {
      assertThat(Times.limit(none)).isEqualTo(Times.Span.NONE);
    }
    for (String unknown : List.of("", "Partition_Limit", "N/A", "NOT_SET", "4294967294")) {
      assertThat(Times.limit(unknown).unknown()).isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "03:33:25, 12805",
    "00:10, 10",
    "0:00, 0",
    "1-02:03:04, 93784",
    "2-01:24:56, 177896",
    "00:15.057, 15.057",
    "223-22:59:36, 19349976",
    "71, 71",
  })
  void elapsed(String text, String seconds) {
    assertThat(Times.elapsed(text).seconds()).isEqualByComparingTo(seconds);
  }

  @Test
  void elapsedThatIsNone() {
    assertThat(Times.elapsed("").unknown()).isTrue();
    assertThat(Times.elapsed("INVALID").unknown()).isTrue();
    // what sacct -c prints for "no value": 2^32 - 2 seconds
    assertThat(Times.elapsed("49710-06:28:14").unknown()).isTrue();
    for (String bad :
        List.of("-0:00:16", "-18283 20:57:28", "NaN", "1:2:3:4", "1e9", "99999999999999", "1.5")) {
      assertThatThrownBy(() -> Times.elapsed(bad)).isInstanceOf(IllegalArgumentException.class);
    }
    for (String bad : List.of("xx", "1-", "-5", "1:2:3:4", "00:15.057", "1 h")) {
      assertThatThrownBy(() -> Times.limit(bad)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void dates() {
    ZoneId paris = ZoneId.of("Europe/Paris");
    assertThat(Times.date("2024-07-01T10:00:00", paris))
        .isEqualTo(Instant.parse("2024-07-01T08:00:00Z"));
    assertThat(Times.date("2024-07-01T10:00:00Z", paris))
        .isEqualTo(Instant.parse("2024-07-01T10:00:00Z"));
    for (String absent :
        new String[] {
          null, "", "Unknown", "N/A", "None", "(null)", "0001-01-01T00:00:00", "1970-01-01T00:00:00"
        }) {
      assertThat(Times.date(absent, ZoneOffset.UTC)).isNull();
    }
    assertThatThrownBy(() -> Times.date("Today 10:00", ZoneOffset.UTC))
        .hasMessageContaining("SLURM_TIME_FORMAT");
    assertThat(Times.epoch(0)).isNull();
    assertThat(Times.epoch(4_294_967_294L)).isNull();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      nullValues = "-",
      value = {
        "123;123;0;-;-;-",
        "20_[2-7,12-17,22%56];20;13;56;-;-",
        "7_[0-8:2];7;5;-;-;-",
        "57829110_[5-100];57829110;96;-;-;-",
        "40_3;40;1;-;-;-",
        "123+0;123;0;-;0;-",
        "1000_2+3.1;1000;1;-;3;1",
        "43974388.batch;43974388;0;-;-;batch",
        "5610980.ext+;5610980;0;-;-;ext+",
        "123.0+1;123;0;-;-;0+1",
      })
  void jobId(String text, String job, int tasks, Integer cap, Integer het, String step) {
    JobId id = JobId.read(text);
    assertThat(id.job()).isEqualTo(job);
    assertThat(id.array()).hasSize(tasks);
    assertThat(id.cap()).isEqualTo(cap);
    assertThat(id.het()).isEqualTo(het);
    assertThat(id.step()).isEqualTo(step);
  }

  @Test
  void jobIdParts() {
    assertThat(JobId.read("7_[0-8:2]").array()).containsExactly(0, 2, 4, 6, 8);
    assertThat(JobId.read("75168975;east").cluster()).isEqualTo("east");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "0",
        "x",
        "12_",
        "12_[",
        "12_[]",
        "12_[1-3,...]",
        "12_[3-1]",
        "12_[1-2:0]",
        "12_[1%]",
        "12_[0-999999999]",
        "1.2.3",
        "-1",
        "99999999999",
        "12 34",
        "12;",
        "12_[1,,2]",
        "12_[[1]]",
      })
  void noJobId(String text) {
    assertThatThrownBy(() -> JobId.read(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("job id");
  }

  @ParameterizedTest
  @CsvSource({
    "PD, PENDING, ''",
    "RUNNING, RUNNING, ''",
    "OOM, OUT_OF_MEMORY, ''",
    "OUT_OF_ME+, OUT_OF_MEMORY, ''",
    "CANCELLED+, CANCELLED, ''",
    "CANCELLED by 1300204, CANCELLED, ''",
    "COMPLETING, RUNNING, COMPLETING",
    "CG, RUNNING, COMPLETING",
    "CF, RUNNING, CONFIGURING",
    "RUNNING+COMPLETING, RUNNING, COMPLETING",
    "PENDING+REQUEUED, PENDING, REQUEUED",
    "REQUEUED, PENDING, REQUEUED",
    "SPECIAL_E+, PENDING, SPECIAL_EXIT",
    "NODE_FAIL, NODE_FAIL, ''",
    "DEADLINE, DEADLINE, ''",
  })
  void jobState(String text, String main, String flags) {
    JobState state = JobState.read(text);
    assertThat(state.main()).isEqualTo(main);
    assertThat(String.join(" ", state.flags())).isEqualTo(flags);
  }

  @Test
  void jobStateDetails() {
    assertThat(JobState.read("CANCELLED by 89200431").cancelledBy()).isEqualTo("89200431");
    for (String failed : List.of("TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "FAILED", "PREEMPTED")) {
      assertThat(JobState.read(failed).ended()).isTrue();
    }
    for (String bad : List.of("", "+", "RE+", "REQUEUE+", "DONE", "RUNNING+FAILED", "\u0000")) {
      assertThatThrownBy(() -> JobState.read(bad)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void exitStatus() {
    assertThat(ExitStatus.read("7:0")).isEqualTo(new ExitStatus(7, 0));
    assertThat(ExitStatus.read("0:125")).isEqualTo(new ExitStatus(0, 125));
    assertThat(ExitStatus.read("")).isNull();
    assertThat(ExitStatus.read("7")).isNull();
    assertThat(ExitStatus.read("139")).isNull();
    assertThat(ExitStatus.read("0")).isEqualTo(new ExitStatus(0, 0));
    assertThat(ExitStatus.read("1792")).isEqualTo(new ExitStatus(7, 0));
    assertThat(ExitStatus.read("51200")).isEqualTo(new ExitStatus(200, 0));
    assertThat(ExitStatus.read("99999")).isNull();
  }
}
