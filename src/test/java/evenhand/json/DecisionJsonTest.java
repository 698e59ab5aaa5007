package evenhand.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import evenhand.facts.Share;
import evenhand.facts.Tier;
import evenhand.input.InputFault;
import evenhand.outcomes.Absorb;
import evenhand.outcomes.Charge;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.HoldingCost;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Release;
import evenhand.outcomes.Reserve;
import evenhand.outcomes.Start;
import evenhand.outcomes.Wait;
import evenhand.outcomes.Yield;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DecisionJsonTest {
  private static final Tier T = new Tier("4090", 20, 82.6, 8, true, null, null);
  private static final Instant NOW = Instant.parse("2026-04-10T09:05:00Z");

  private static Decision decision(List<HoldingCost> accruals, List<Yield> yields) {
    return new Decision(
        "reservation",
        "sha256:p",
        "sha256:s",
        NOW,
        List.of(
            new Decided(new Release("jobA", "n1", T, 1), "R3"),
            new Decided(new Start("jobB", List.of(new Share("n2", T, 2))), "D1"),
            new Decided(new Reserve("jobC", "n3", T, 1), "D3"),
            new Decided(new Absorb("jobC", "n3", T, 1), "D2"),
            new Decided(new Preempt("jobR", "jobB"), "K4"),
            new Decided(new Charge("BCG", "jobA", 24780), "C4"),
            new Decided(new Wait("jobD", "NOT_FIRST", "jobC", "behind \"jobC\""), "R2"),
            new Decided(new Wait("jobE", "NO_IDLE", null, "none"), "D4")),
        accruals,
        yields);
  }

  @Test
  void writesTheFormat() {
    assertEquals(
        """
        {"policy":"reservation","policy_hash":"sha256:p","snapshot_hash":"sha256:s","now":"2026-04-10T09:05:00Z",
         "outcomes":[
          {"type":"release","job":"jobA","node":"n1","tier":"4090","gpus":1,"rule":"R3"},
          {"type":"start","job":"jobB","on":[{"node":"n2","tier":"4090","gpus":2}],"rule":"D1"},
          {"type":"reserve","job":"jobC","node":"n3","tier":"4090","gpus":1,"rule":"D3"},
          {"type":"absorb","job":"jobC","node":"n3","tier":"4090","gpus":1,"rule":"D2"},
          {"type":"preempt","job":"jobR","for":"jobB","rule":"K4"},
          {"type":"charge","account":"BCG","job":"jobA","tflop_s":24780.0,"rule":"C4"},
          {"type":"wait","job":"jobD","code":"NOT_FIRST","behind":"jobC","message":"behind \\"jobC\\"","rule":"R2"},
          {"type":"wait","job":"jobE","code":"NO_IDLE","behind":null,"message":"none","rule":"D4"}]}\
        """,
        DecisionJson.writeLines(decision(List.of(), List.of())));
  }

  @Test
  void bothFormsSayTheSameAndAreReadBack() {
    Decision decision =
        decision(
            List.of(
                new HoldingCost(
                    HoldingCost.RESERVED,
                    "jobA",
                    "BCG",
                    "n1",
                    T,
                    1,
                    NOW.minusSeconds(300),
                    NOW,
                    24780)),
            List.of(new Yield("jobB", "n2", "4090", 2)));
    String line = DecisionJson.write(decision);
    assertTrue(line.indexOf('\n') < 0, line);
    assertTrue(line.contains("\"accruals\":[{\"kind\":\"reserved\""), line);
    assertEquals(line, DecisionJson.write(DecisionJson.read("d", line)));
    assertEquals(
        line, DecisionJson.write(DecisionJson.read("d", DecisionJson.writeLines(decision))));
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0.0",
    "-0.0, 0.0",
    "24780, 24780.0",
    "82.6, 82.6",
    "1e7, 10000000.0",
    "123456789.125, 123456789.125",
    "2e-3, 0.002",
    "1e20, 100000000000000000000.0",
    "2e22, 2.0E22",
    "2.2250738585072014E-308, 2.2250738585072014E-308",
    "0.1, 0.1",
    "1e-5, 0.00001"
  })
  void numbersArePlainAndTheSameOnEveryJava(double value, String written) {
    String text =
        Text.write(
            json -> {
              json.writeStartObject();
              Text.number(json, "n", value);
              json.writeEndObject();
            });
    assertEquals("{\"n\":" + written + "}", text);
    assertEquals(value + 0.0, Double.parseDouble(written));
  }

  @Test
  void refusesNumbersThatJsonCannotSay() {
    assertThrows(
        IllegalArgumentException.class,
        () ->
            Text.write(
                json -> {
                  json.writeStartObject();
                  Text.number(json, "n", Double.NaN);
                }));
  }

  @Test
  void refusesWhatIsNoDecision() {
    String line = DecisionJson.write(decision(List.of(), List.of()));
    assertThrows(InputFault.class, () -> DecisionJson.read("d", line.replace("release", "free")));
    assertThrows(InputFault.class, () -> DecisionJson.read("d", line.replace("\"for\"", "\"to\"")));
    assertThrows(InputFault.class, () -> DecisionJson.read("d", "{}"));
  }
}
