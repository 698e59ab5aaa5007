package evenhand.input;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DocumentTest {
  private static final Field<String> NAME = Field.text("name");
  private static final Field<Integer> GPUS = Field.whole("gpus", 1, 8).or(1).means("GPUs it has");
  private static final Field<Double> PRICE = Field.number("price", 0, Double.MAX_VALUE).or(0.0);
  private static final Field<Duration> RUN = Field.duration("run").or(Duration.ZERO);
  private static final Shape ITEM = Shape.of("an item", NAME, GPUS, PRICE, RUN);
  private static final Field<List<Section>> ITEMS = Field.list("items", ITEM).or(List.of());
  private static final Field<Map<String, Section>> TIERS =
      Field.map("tiers", Shape.of("a tier", GPUS)).or(Map.of());
  private static final Shape TOP = Shape.of("the file", ITEMS, TIERS);

  private static String faults(String text, boolean yaml) {
    InputFault fault =
        assertThrows(
            InputFault.class,
            () -> (yaml ? Document.yaml("f", text) : Document.json("f", text)).read(TOP));
    return fault.faults().stream().map(Fault::toString).collect(Collectors.joining("\n"));
  }

  private static Section item(String members) {
    return Document.json("f", "{\"items\":[{\"name\":\"a\"," + members + "}]}")
        .read(TOP)
        .get(ITEMS)
        .get(0);
  }

  @Test
  void everyFaultIsListedWithLinePathAndWhatWouldBeRight() {
    assertEquals(
        """
        f:3: items[0].gpu: is no field of an item; did you mean gpus?
        f:2: items[0].name: is missing; it must be text of 1 to 200 characters without control characters
        f:4: items[1].gpus: must be a whole number from 1 to 8, not "two"
        f:5: item: is no field of the file; did you mean items?\
        """
            .lines()
            .sorted()
            .collect(Collectors.joining("\n")),
        faults(
                """
                {"items":[
                  {
                   "gpu":1},
                  {"name":"b","gpus":"two"}],
                 "item":1}
                """,
                false)
            .lines()
            .sorted()
            .collect(Collectors.joining("\n")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "9",
        "-1",
        "1e9",
        "2.5",
        "\"2\"",
        "true",
        "[]",
        "{}",
        "NaN",
        "Infinity",
        "-Infinity",
        "1e999999999",
        "1e-999999999",
        "99999999999999999999"
      })
  void refusesWhatIsNoCountOfGpus(String written) {
    String said = faults("{\"items\":[{\"name\":\"a\",\"gpus\":" + written + "}]}", false);
    assertTrue(
        said.startsWith("f:1: items[0].gpus: must be a whole number from 1 to 8, not "), said);
  }

  @Test
  void twoWrittenAsADecimalIsTwo() {
    assertEquals(2, item("\"gpus\":2.0").get(GPUS));
    assertEquals(2, item("\"gpus\":2e0").get(GPUS));
    assertEquals(1, item("\"gpus\":null").get(GPUS));
  }

  @ParameterizedTest
  @ValueSource(strings = {"-0.1", "1e400", "NaN", "\"1\"", "false"})
  void refusesNumbersThatAreNotFinite(String written) {
    String said = faults("{\"items\":[{\"name\":\"a\",\"price\":" + written + "}]}", false);
    assertTrue(said.contains("items[0].price: must be a finite number of at least 0, not "), said);
  }

  @ParameterizedTest
  @CsvSource({
    "'', is empty",
    "'{', is not JSON that can be read",
    "'{}}', is not JSON that can be read",
    "'{} {}', text after the end",
    "'{\"items\":[],}', is not JSON that can be read",
    "'{\"items\":[],\"items\":[]}', items: stands here twice",
    "'[]', must be an object with items",
    "'// c', is not JSON that can be read",
  })
  void refusesWhatIsNotOneJsonValue(String text, String said) {
    String got = faults(text, false);
    assertTrue(got.contains(said), got);
  }

  @Test
  void refusesNestingWithoutEnd() {
    assertTrue(faults("[".repeat(100_000), false).contains("nesting"), "depth");
    assertTrue(faults("[".repeat(100_000), true).contains("nesting"), "depth");
    assertTrue(faults("a: ".repeat(1000), true).contains("is not YAML"));
  }

  @Test
  void namesLikeNumbersStayTextInYaml() {
    Section top =
        Document.yaml(
                "f",
                """
                items:
                  - name: 4090
                    run: 8h
                  - {name: 0x10, run: 300}
                  - {name: true, run: 1.5h}
                tiers: {4090: {gpus: 2}, 5090: {}}
                """)
            .read(TOP);
    assertEquals(
        List.of("4090", "0x10", "true"), top.get(ITEMS).stream().map(s -> s.get(NAME)).toList());
    assertEquals(
        List.of(Duration.ofHours(8), Duration.ofSeconds(300), Duration.ofMinutes(90)),
        top.get(ITEMS).stream().map(s -> s.get(RUN)).toList());
    assertEquals(List.of("4090", "5090"), List.copyOf(top.get(TIERS).keySet()));
    assertEquals(2, top.get(TIERS).get("4090").get(GPUS));
  }

  @ParameterizedTest
  @CsvSource({
    "'items: [{name: a, gpus: .nan}]', f:1: items[0].gpus: must be a whole number",
    "'items: [{name: a, price: .inf}]', f:1: items[0].price: must be a finite number",
    "'tiers: {4090: {}, 4090: {}}', f:1: tiers.4090: stands here twice",
    "'tiers: &x {}', anchors",
    "'tiers: !!map {}', anchors",
    "'items: [*x]', anchors",
    "'items: {', is not YAML that can be read",
  })
  void refusesInYaml(String text, String said) {
    String got = faults(text, true);
    assertTrue(got.contains(said), got);
  }

  @Test
  void refusesASecondYamlDocument() {
    assertTrue(faults("items: []\n---\nitems: []\n", true).contains("text after the end"));
    String said = faults("items: []\n  bad: [\n", true);
    assertTrue(said.startsWith("f:2: is not YAML"), said);
  }

  @ParameterizedTest
  @CsvSource({
    "8h, 28800",
    "15m, 900",
    "300s, 300",
    "7d, 604800",
    "300, 300",
    "0, 0",
    "1.5h, 5400",
    "90 s, 90"
  })
  void readsDurations(String written, long seconds) {
    assertEquals(Duration.ofSeconds(seconds), Durations.parse(written));
    assertEquals(seconds, Durations.parse(Durations.text(seconds)).getSeconds());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-1", "1w", "h", "1h30", "1e3", "999999999999d", "NaN", "١h", "1,5h"})
  void refusesDurations(String written) {
    assertThrows(IllegalArgumentException.class, () -> Durations.parse(written));
  }

  @Test
  void explainsEveryField() {
    assertTrue(
        TOP.explain()
            .contains(
                new Shape.Explained(
                    "items[].gpus", "a whole number from 1 to 8", "1", "GPUs it has")));
    assertTrue(TOP.explain().stream().anyMatch(e -> e.path().equals("tiers.NAME.gpus")));
  }

  @Test
  void whatAFaultNamesCanBeRead() {
    assertEquals(
        "a.csv:1: ab\uFFFD\uFFFD[31m: is no column",
        new Fault("a.csv", 1, "ab\0\u001b[31m", "is no column").toString());
    String cut = new Fault("a.csv", 1, "x".repeat(5000), "is no column").toString();
    assertEquals("a.csv:1: " + "x".repeat(200) + "…: is no column", cut);
  }
}
