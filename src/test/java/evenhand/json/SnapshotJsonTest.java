package evenhand.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import evenhand.facts.NodeState;
import evenhand.facts.Snapshot;
import evenhand.input.InputFault;
import java.time.Instant;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class SnapshotJsonTest {
  private static final String WHOLE =
      """
      { "policy": "reservation", "now": "2026-04-10T09:05:00Z", "cluster": "main",
        "tiers":      [{"name":"4090","sort_order":20,"tflops":82.6,"max_gpus":8,"auto_assign":true,"partition":"gpu4090","gres":"gpu:4090"}],
        "placements": [{"node":"n1","tier":"4090","capacity":2,"idle":1,"state":"up"},
                       {"node":"n2","tier":"4090","capacity":2,"idle":2,"state":"up"}],
        "accounts":   [{"id":"BCG","parent":null,"weight":1,"cumulative_usage":24000.0,"window_usage":0.0}],
        "jobs":       [{"id":"jobA","account":"BCG","user":"kim","nodes":1,"num_gpus":2,"tier":null,"minimum_tier_sort_order":0,
                        "priority":0,"queued_at":"2026-04-10T09:00:00Z","min_runtime_s":0,"resumable":true,"attempt":1},
                       {"id":"jobB","account":"BCG"}],
        "reservations":[{"job":"jobA","node":"n1","tier":"4090","gpus":1,"since":"2026-04-10T09:00:00Z",
                         "accrued_tflop_s":0.0,"accrued_at":"2026-04-10T09:00:00Z"}],
        "running":    [{"job":"jobY","account":"BCG","on":[{"node":"n1","tier":"4090","gpus":1}],"started_at":"2026-04-10T08:00:00Z",
                        "protected_until":"2026-04-10T09:00:00Z","allocated":true,"resumable":true}] }
      """;

  @Test
  void readsTheFormatsExample() {
    Snapshot s = SnapshotJson.read("s.json", WHOLE);
    assertEquals(Instant.parse("2026-04-10T09:05:00Z"), s.now());
    assertEquals("4090", s.placements().get(0).tier().name());
    assertEquals(1, s.placements().get(0).idle());
    assertEquals(0, s.placements().get(0).reserved());
    assertNull(s.placements().get(0).heldFor());
    assertSame(s.placements().get(0).group(), s.placements().get(1).group());
    assertEquals("BCG", s.reservations().get(0).account());
    assertEquals(82.6, s.running().get(0).on().get(0).tier().tflops());
  }

  @Test
  void missingFieldsTakeTheirDefaults() {
    Snapshot s =
        SnapshotJson.read(
            "s.json",
            """
            {"now":"2026-04-10T11:05:00+02:00","tiers":[{"name":"4090"}],
             "placements":[{"node":"n1","tier":"4090","capacity":2}],
             "accounts":[{"id":"BCG"}], "jobs":[{"id":"a","account":"BCG"}],
             "reservations":[{"job":"a","node":"n1","tier":"4090","gpus":1}]}
            """);
    Instant now = Instant.parse("2026-04-10T09:05:00Z");
    assertEquals("reservation", s.policy());
    assertEquals("main", s.cluster());
    assertEquals(2, s.placements().get(0).idle());
    assertEquals(NodeState.UP, s.placements().get(0).state());
    assertEquals("gpu:4090", s.tiers().get(0).gres());
    assertEquals(now, s.jobs().get(0).queuedAt());
    assertEquals(1, s.jobs().get(0).numGpus());
    assertEquals(now, s.reservations().get(0).since());
    assertEquals(now, s.reservations().get(0).accruedAt());
  }

  @Test
  void whatIsWrittenIsReadBackAndHashesTheSame() {
    Snapshot s = SnapshotJson.read("s.json", WHOLE);
    String text = SnapshotJson.write(s);
    assertEquals(s, SnapshotJson.read("again", text));
    assertEquals(text, SnapshotJson.write(SnapshotJson.read("again", text)));
    assertTrue(SnapshotJson.hash(s).matches("sha256:[0-9a-f]{64}"));
    // another order of keys, and defaults left out, mean the same
    String other =
        WHOLE
            .replace("\"attempt\":1", "\"nodes\":1.0")
            .replace("\"nodes\":1,", "")
            .replace(
                "\"node\":\"n2\",\"tier\":\"4090\",\"capacity\":2,\"idle\":2,\"state\":\"up\"",
                "\"capacity\":2,\"tier\":\"4090\",\"node\":\"n2\"");
    assertNotEquals(WHOLE, other);
    assertEquals(SnapshotJson.hash(s), SnapshotJson.hash(SnapshotJson.read("s", other)));
    assertNotEquals(
        SnapshotJson.hash(s),
        SnapshotJson.hash(SnapshotJson.read("s", WHOLE.replace("24000.0", "24000.5"))));
  }

  static Stream<Arguments> whatCannotBe() {
    return Stream.of(
        Arguments.of("\"idle\":1", "\"idle\":3", "placements[0].idle: 3 idle of a capacity of 2"),
        Arguments.of("\"idle\":1", "\"idle\":-1", "placements[0].idle: must be a whole number"),
        Arguments.of("\"idle\":1", "\"idle\":0", "reservations[0].gpus: 1 reserved on n1 (4090)"),
        Arguments.of("\"node\":\"n2\"", "\"node\":\"n1\"", "placement n1 (4090) is given twice"),
        Arguments.of("\"id\":\"jobB\"", "\"id\":\"jobA\"", "jobs[1].id: job jobA is given twice"),
        Arguments.of("\"job\":\"jobY\"", "\"job\":\"jobB\"", "running[0].job: job jobB is queued"),
        Arguments.of(
            "\"reservations\":[",
            "\"reservations\":[{\"job\":\"jobA\",\"node\":\"n2\",\"tier\":\"4090\",\"gpus\":1},",
            "reservations[1].job: job jobA holds two reservations"),
        Arguments.of(
            "\"reservations\":[",
            "\"reservations\":[{\"job\":\"jobB\",\"node\":\"n1\",\"tier\":\"4090\",\"gpus\":1},",
            "reservations[1].gpus: 2 reserved on n1 (4090), where 1 are free"),
        Arguments.of(
            "[{\"job\":\"jobA\"",
            "[{\"job\":\"jobY\"",
            "reservations[0].job: there is no job jobY"),
        Arguments.of("\"parent\":null", "\"parent\":\"BCH\"", "did you mean BCG?"),
        Arguments.of("\"parent\":null", "\"parent\":\"BCG\"", "BCG is its own ancestor"),
        Arguments.of(
            "\"parent\":null",
            "\"parent\":\"x\"},{\"id\":\"x\",\"parent\":\"BCG\"},{\"id\":\"y\"",
            "accounts[1].parent: account x is its own ancestor"),
        Arguments.of(
            "\"account\":\"BCG\"}],", "\"account\":\"B\"}],", "jobs[1].account: there is no"),
        Arguments.of("\"tier\":null", "\"tier\":\"409O\"", "did you mean 4090?"),
        Arguments.of(
            "\"weight\":1", "\"weight\":-1", "accounts[0].weight: must be a finite number"),
        Arguments.of("24000.0", "NaN", "cumulative_usage: must be a finite number of at least 0"),
        Arguments.of("24000.0", "1e999", "cumulative_usage: must be a finite number of at least 0"),
        Arguments.of(
            "\"protected_until\":\"2026-04-10T09", "\"protected_until\":\"2026-04-10T07", "before"),
        Arguments.of(
            "\"gpus\":1}],",
            "\"gpus\":2}],",
            "running[0].on[0].gpus: running jobs hold 2 on n1 (4090), which has 2 and 1 of them"
                + " idle; at most 1"),
        Arguments.of(
            "\"running\":    [",
            "\"running\":[{\"job\":\"x\",\"account\":\"BCG\",\"allocated\":false,"
                + "\"on\":[{\"node\":\"n1\",\"tier\":\"4090\",\"gpus\":3}]},",
            "running[0].on[0].gpus: running jobs hold 3 on n1 (4090)"),
        Arguments.of("\"gpus\":1}],", "\"gpus\":0}],", "running[0].on[0].gpus: must be a whole"),
        Arguments.of(
            "[{\"node\":\"n1\",\"tier\":\"4090\",\"gpus\":1}]",
            "[]",
            "running[0].on: names no GPUs"),
        Arguments.of(
            "\"running\":    [",
            "\"running\":[{\"job\":\"jobY\",\"account\":\"BCG\","
                + "\"on\":[{\"node\":\"n2\",\"tier\":\"4090\",\"gpus\":1}]},",
            "running[1].job: job jobY is given twice"),
        Arguments.of(
            "\"started_at\":\"2026-04-10T08",
            "\"started_at\":\"2026-04-10T10",
            "running[0].started_at: 2026-04-10T10:00:00Z is in the future; now is 2026-04-10T09:05"),
        Arguments.of(
            "\"gpus\":1,\"since\"",
            "\"gpus\":3,\"since\"",
            "reservations[0].gpus: 3 reserved for a job that asks for 2; at most 2"),
        Arguments.of(
            "\"since\":\"2026-04-10T09:00",
            "\"since\":\"2026-04-10T09:06",
            "since: 2026-04-10T09:06"),
        Arguments.of(
            "\"accrued_at\":\"2026-04-10T09:00",
            "\"accrued_at\":\"2026-04-11T09:00",
            "reservations[0].accrued_at: 2026-04-11T09:00:00Z is in the future"),
        Arguments.of(
            "\"accrued_at\":\"2026-04-10T09:00",
            "\"accrued_at\":\"2026-04-10T08:59",
            "reservations[0].accrued_at: 2026-04-10T08:59:00Z is before it was started"),
        Arguments.of("09:05:00Z", "9:05", "now: must be a time such as"),
        Arguments.of("09:05:00Z", "09:05:00", "now: must be a time such as"),
        Arguments.of("\"now\"", "\"nov\"", "did you mean now?"),
        Arguments.of("\"state\":\"up\"", "\"state\":\"UP\"", "must be one of up, draining, down"),
        Arguments.of("\"num_gpus\":2", "\"num_gpu\":2", "jobs[0].num_gpu: is no field of a job"),
        Arguments.of("\"cluster\"", "\"policy\":\"x\",\"cluster\"", "policy: stands here twice"));
  }

  @ParameterizedTest
  @MethodSource
  void whatCannotBe(String part, String instead, String said) {
    assertTrue(WHOLE.contains(part), part);
    String text = WHOLE.replaceFirst(java.util.regex.Pattern.quote(part), instead);
    InputFault fault = assertThrows(InputFault.class, () -> SnapshotJson.read("s.json", text));
    assertTrue(fault.getMessage().contains(said), fault.getMessage());
    assertTrue(fault.faults().get(0).line() > 0, fault.getMessage());
  }

  /** Whatever is cut out of a good snapshot, put in or doubled: read, or refused with a place. */
  @Test
  void noTextMakesTheReaderFail() {
    java.util.Random random = new java.util.Random(20260410);
    String[] bits = {
      "{",
      "}",
      "[",
      "]",
      "\"",
      ",",
      ":",
      "null",
      "-1",
      "1e400",
      "NaN",
      "99999999999",
      "jobA",
      "n1",
      "2026",
      "true",
      "\\",
      "\n",
      "BCG",
      "{\"id\":\"x\"}",
      "\u0000",
      "1e-9",
      "up",
      "0"
    };
    int refused = 0;
    for (int i = 0; i < 3000; i++) {
      StringBuilder text = new StringBuilder(WHOLE);
      for (int change = random.nextInt(3); change >= 0; change--) {
        int at = random.nextInt(text.length());
        int to = Math.min(text.length(), at + random.nextInt(12));
        text.replace(at, random.nextBoolean() ? at : to, bits[random.nextInt(bits.length)]);
      }
      try {
        Snapshot read = SnapshotJson.read("s.json", text.toString());
        assertEquals(read, SnapshotJson.read("again", SnapshotJson.write(read)));
      } catch (InputFault e) {
        refused++;
        assertTrue(e.getMessage().startsWith("s.json"), e.getMessage());
      }
    }
    assertTrue(refused > 1000, "refused " + refused);
  }

  @Test
  void aReservationOnWhatIsGoneMayStand() {
    String down =
        WHOLE.replaceFirst("\"idle\":1,\"state\":\"up\"", "\"idle\":0,\"state\":\"down\"");
    assertEquals(1, SnapshotJson.read("s", down).reservations().size());
    String gone = WHOLE.replaceFirst("\"node\":\"n1\"", "\"node\":\"n9\"");
    assertEquals(1, SnapshotJson.read("s", gone).reservations().size());
  }

  @Test
  void whatMayBeIsNotRefused() {
    // work without a budget, and work that leaves, may be counted as idle by some
    for (String mark : new String[] {"\"allocated\":false", "\"leaving\":true"}) {
      String text =
          WHOLE
              .replaceFirst("\"gpus\":1\\}\\],", "\"gpus\":2}],")
              .replaceFirst("\"allocated\":true", mark);
      assertEquals(2, SnapshotJson.read("s", text).running().get(0).gpus());
    }
    // where idle is not told nothing says how much of the capacity is held
    String untold = WHOLE.replaceFirst("\"idle\":1,", "");
    assertEquals(1, SnapshotJson.read("s", untold).running().size());
    String down =
        WHOLE
            .replaceFirst("\"state\":\"up\"", "\"state\":\"down\"")
            .replaceFirst("\"gpus\":1\\}\\],", "\"gpus\":8}],");
    assertEquals(8, SnapshotJson.read("s", down).running().get(0).gpus());
  }

  /** A job from outside took GPUs, or the clock was set back: it was so. */
  @Test
  void whatWasRecordedWasSo() {
    String text =
        WHOLE
            .replaceFirst("\"gpus\":1\\}\\],", "\"gpus\":2}],")
            .replaceFirst("09:05:00Z", "07:05:00Z")
            .replaceFirst("\"gpus\":1,\"since\"", "\"gpus\":3,\"since\"");
    Snapshot s = SnapshotJson.readRecorded("s", text);
    assertEquals(2, s.running().get(0).gpus());
    assertEquals(s, SnapshotJson.readRecorded("s", SnapshotJson.write(s)));
    assertThrows(InputFault.class, () -> SnapshotJson.read("s", text));
  }

  @Test
  void aTallTreeAndALongLoopAreReadInReasonableTime() {
    StringBuilder accounts = new StringBuilder();
    int many = 20_000;
    for (int i = 0; i < many; i++) {
      accounts.append("{\"id\":\"a").append(i).append("\",\"parent\":");
      accounts.append(i == many - 1 ? "null" : "\"a" + (i + 1) + "\"").append("},");
    }
    String text = WHOLE.replace("\"accounts\":   [", "\"accounts\": [" + accounts);
    assertEquals(many + 1, SnapshotJson.read("s", text).accounts().size());
  }

  @Test
  void everyFieldHasAMeaning() {
    SnapshotJson.SHAPE
        .explain()
        .forEach(line -> assertTrue(!line.meaning().isBlank(), line.path() + " has no meaning"));
  }
}
