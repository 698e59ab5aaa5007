package evenhand.json;

import evenhand.facts.Share;
import evenhand.facts.Tier;
import evenhand.input.Document;
import evenhand.input.Field;
import evenhand.input.InputFault;
import evenhand.input.Section;
import evenhand.input.Shape;
import evenhand.input.Value;
import evenhand.outcomes.Absorb;
import evenhand.outcomes.Charge;
import evenhand.outcomes.Claimed;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.HoldingCost;
import evenhand.outcomes.Outcome;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Release;
import evenhand.outcomes.Reserve;
import evenhand.outcomes.Start;
import evenhand.outcomes.Wait;
import evenhand.outcomes.Yield;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;

/**
 * The decision as JSON. Beyond the format it has {@code accruals} (what each reservation cost since
 * it was last counted) and {@code yields} (what the LLM router is told), each only where there are
 * any.
 */
public final class DecisionJson {
  private static final double ANY = Double.MAX_VALUE;
  private static final Field<String> JOB = Field.text("job");
  private static final Field<String> NODE = Field.text("node");
  private static final Field<String> TIER = Field.text("tier");
  private static final Field<Integer> GPUS = Field.whole("gpus", 0, Integer.MAX_VALUE);
  private static final Field<String> RULE = Field.text("rule");
  private static final Field<String> RULE_NAME = Field.text("rule_name").or(null, "null");
  private static final Field<String> ACCOUNT = Field.text("account");
  private static final Field<Double> TFLOP_SECONDS = Field.number("tflop_s", 0, ANY);
  private static final Field<Double> FACTOR = Field.number("factor", 0, ANY).or(1.0, "1");
  private static final Field<String> TYPE = Field.text("type");
  private static final Field<List<Section>> ON =
      Field.list("on", Shape.of("a share", NODE, TIER, GPUS));
  private static final Field<Instant> READY_AT = Field.time("ready_at");
  private static final Field<List<String>> YIELDED =
      Field.texts("yields", 1_000_000, "an id of a job", id -> !id.isBlank()).or(List.of(), "none");
  private static final Field<String> FOR = Field.text("for").or(null, "null");
  private static final Field<Boolean> ALLOCATED = Field.flag("allocated").or(null, "null");
  private static final Field<String> CODE = Field.text("code");
  private static final Field<String> BEHIND = Field.text("behind").or(null, "null");
  private static final Field<String> MESSAGE = Field.text("message", "text", text -> true);

  private static final Shape GPUS_OF_ONE_PLACEMENT =
      Shape.of("such an outcome", TYPE, JOB, NODE, TIER, GPUS, RULE, RULE_NAME);
  private static final Map<String, Shape> OUTCOMES =
      Map.of(
          "start", Shape.of("a start", TYPE, JOB, ON, ALLOCATED, RULE, RULE_NAME),
          "release", GPUS_OF_ONE_PLACEMENT,
          "reserve", GPUS_OF_ONE_PLACEMENT,
          "absorb", GPUS_OF_ONE_PLACEMENT,
          "claim", Shape.of("a claim", TYPE, JOB, ON, READY_AT, YIELDED, RULE, RULE_NAME),
          "preempt", Shape.of("a preempt", TYPE, JOB, FOR, RULE, RULE_NAME),
          "charge",
              Shape.of("a charge", TYPE, ACCOUNT, JOB, TFLOP_SECONDS, FACTOR, RULE, RULE_NAME),
          "wait", Shape.of("a wait", TYPE, JOB, CODE, BEHIND, MESSAGE, RULE, RULE_NAME));
  private static final Field<String> KIND =
      Field.word("kind", List.of(HoldingCost.RESERVED, HoldingCost.RUN, HoldingCost.UNALLOCATED));
  private static final Field<Instant> FROM = Field.time("from");
  private static final Field<Instant> TO = Field.time("to");
  private static final Field<String> POLICY = Field.text("policy");
  private static final Field<String> POLICY_HASH = Field.text("policy_hash");
  private static final Field<String> SNAPSHOT_HASH = Field.text("snapshot_hash").or(null, "null");
  private static final Field<Instant> NOW = Field.time("now");
  private static final Field<Value> OUTCOME_LIST = Field.any("outcomes", "a list of outcomes");
  private static final Field<List<Section>> ACCRUALS =
      Field.list(
              "accruals",
              Shape.of("an accrual", KIND, JOB, ACCOUNT, NODE, TIER, GPUS, FROM, TO, TFLOP_SECONDS))
          .or(List.of(), "none");
  private static final Field<List<Section>> YIELDS =
      Field.list("yields", Shape.of("a yield", JOB, NODE, TIER, GPUS)).or(List.of(), "none");
  private static final Shape DECISION =
      Shape.of(
          "a decision", POLICY, POLICY_HASH, SNAPSHOT_HASH, NOW, OUTCOME_LIST, ACCRUALS, YIELDS);

  private DecisionJson() {}

  /** The canonical text, on one line: the same decision gives the same bytes. */
  public static String write(Decision decision) {
    return Text.write(
        json -> {
          json.writeStartObject();
          writeHead(json, decision);
          writeList(json, "outcomes", decision.outcomes(), d -> write(json, d));
          if (!decision.accruals().isEmpty()) {
            writeList(json, "accruals", decision.accruals(), cost -> write(json, cost));
          }
          if (!decision.yields().isEmpty()) {
            writeList(json, "yields", decision.yields(), order -> write(json, order));
          }
          json.writeEndObject();
        });
  }

  /** The same content for people: one outcome a line. */
  public static String writeLines(Decision decision) {
    String head =
        Text.write(
            json -> {
              json.writeStartObject();
              writeHead(json, decision);
              json.writeEndObject();
            });
    StringBuilder text = new StringBuilder(head.substring(0, head.length() - 1));
    appendLines(text, "outcomes", decision.outcomes(), (json, d) -> write(json, d));
    if (!decision.accruals().isEmpty()) {
      appendLines(text, "accruals", decision.accruals(), (json, cost) -> write(json, cost));
    }
    if (!decision.yields().isEmpty()) {
      appendLines(text, "yields", decision.yields(), (json, order) -> write(json, order));
    }
    return text.append("}").toString();
  }

  private static void writeHead(JsonGenerator json, Decision decision) {
    json.writeStringProperty("policy", decision.policy());
    json.writeStringProperty("policy_hash", decision.policyHash());
    Text.text(json, "snapshot_hash", decision.snapshotHash());
    json.writeStringProperty("now", decision.now().toString());
  }

  private static <T> void writeList(
      JsonGenerator json, String name, List<T> items, Consumer<T> write) {
    json.writeArrayPropertyStart(name);
    items.forEach(write);
    json.writeEndArray();
  }

  private static <T> void appendLines(
      StringBuilder text,
      String name,
      List<T> items,
      java.util.function.BiConsumer<JsonGenerator, T> write) {
    text.append(",\n \"").append(name).append("\":[");
    String before = "\n  ";
    for (T item : items) {
      text.append(before).append(Text.write(json -> write.accept(json, item)));
      before = ",\n  ";
    }
    text.append("]");
  }

  private static void write(JsonGenerator json, Decided decided) {
    Outcome outcome = decided.outcome();
    json.writeStartObject();
    if (outcome instanceof Start start) {
      json.writeStringProperty("type", "start");
      json.writeStringProperty("job", start.job());
      Text.shares(json, start.on());
      if (start.allocated() != null) {
        json.writeBooleanProperty("allocated", start.allocated());
      }
    } else if (outcome instanceof Release o) {
      writeGpus(json, "release", o.job(), o.node(), o.tier(), o.gpus());
    } else if (outcome instanceof Reserve o) {
      writeGpus(json, "reserve", o.job(), o.node(), o.tier(), o.gpus());
    } else if (outcome instanceof Absorb o) {
      writeGpus(json, "absorb", o.job(), o.node(), o.tier(), o.gpus());
    } else if (outcome instanceof Claimed claimed) {
      json.writeStringProperty("type", "claim");
      json.writeStringProperty("job", claimed.job());
      Text.shares(json, claimed.on());
      json.writeStringProperty("ready_at", claimed.readyAt().toString());
      json.writeArrayPropertyStart("yields");
      claimed.yields().forEach(json::writeString);
      json.writeEndArray();
    } else if (outcome instanceof Preempt preempt) {
      json.writeStringProperty("type", "preempt");
      json.writeStringProperty("job", preempt.job());
      Text.text(json, "for", preempt.forJob());
    } else if (outcome instanceof Charge charge) {
      json.writeStringProperty("type", "charge");
      json.writeStringProperty("account", charge.account());
      json.writeStringProperty("job", charge.job());
      Text.number(json, "tflop_s", charge.tflopSeconds());
      if (charge.factor() != 1) {
        Text.number(json, "factor", charge.factor());
      }
    } else if (outcome instanceof Wait wait) {
      json.writeStringProperty("type", "wait");
      json.writeStringProperty("job", wait.job());
      json.writeStringProperty("code", wait.code());
      Text.text(json, "behind", wait.behind());
      Text.text(json, "message", wait.message());
    } else {
      throw new IllegalStateException("no JSON for " + outcome);
    }
    json.writeStringProperty("rule", decided.rule());
    if (decided.ruleName() != null) {
      json.writeStringProperty("rule_name", decided.ruleName());
    }
    json.writeEndObject();
  }

  private static void writeGpus(
      JsonGenerator json, String type, String job, String node, Tier tier, int gpus) {
    json.writeStringProperty("type", type);
    json.writeStringProperty("job", job);
    json.writeStringProperty("node", node);
    json.writeStringProperty("tier", tier.name());
    json.writeNumberProperty("gpus", gpus);
  }

  private static void write(JsonGenerator json, HoldingCost cost) {
    json.writeStartObject();
    json.writeStringProperty("kind", cost.kind());
    json.writeStringProperty("job", cost.job());
    json.writeStringProperty("account", cost.account());
    json.writeStringProperty("node", cost.node());
    json.writeStringProperty("tier", cost.tier().name());
    json.writeNumberProperty("gpus", cost.gpus());
    json.writeStringProperty("from", cost.from().toString());
    json.writeStringProperty("to", cost.to().toString());
    Text.number(json, "tflop_s", cost.tflopSeconds());
    json.writeEndObject();
  }

  private static void write(JsonGenerator json, Yield order) {
    json.writeStartObject();
    json.writeStringProperty("job", order.job());
    json.writeStringProperty("node", order.node());
    json.writeStringProperty("tier", order.tier());
    json.writeNumberProperty("gpus", order.gpus());
    json.writeEndObject();
  }

  /**
   * Reads a decision back. Its tiers carry their name only, since the text says no more of them;
   * written again it gives the same bytes.
   *
   * @throws InputFault when it is not one
   */
  public static Decision read(String file, String text) {
    Document document = Document.json(file, text);
    Section top = document.read(DECISION);
    List<Decided> outcomes = new ArrayList<>();
    Value list = top.get(OUTCOME_LIST);
    if (list.kind() != Value.Kind.LIST) {
      list.fault("must be a list of outcomes");
      document.check();
    }
    for (Value item : list.items()) {
      Decided decided = decided(item);
      if (decided != null) {
        outcomes.add(decided);
      }
    }
    document.check();
    return new Decision(
        top.get(POLICY),
        top.get(POLICY_HASH),
        top.get(SNAPSHOT_HASH),
        top.get(NOW),
        outcomes,
        top.get(ACCRUALS).stream().map(DecisionJson::accrual).toList(),
        top.get(YIELDS).stream()
            .map(s -> new Yield(s.get(JOB), s.get(NODE), s.get(TIER), s.get(GPUS)))
            .toList());
  }

  private static Decided decided(Value item) {
    Value type = item.kind() == Value.Kind.OBJECT ? item.members().get("type") : null;
    Shape shape = type == null || type.kind() != Value.Kind.TEXT ? null : OUTCOMES.get(type.text());
    if (shape == null) {
      item.fault(
          "must be an object whose type is one of "
              + String.join(", ", OUTCOMES.keySet().stream().sorted().toList()));
      return null;
    }
    Section s = item.section(shape);
    if (s == null) {
      return null;
    }
    Outcome outcome =
        switch (s.get(TYPE)) {
          case "start" ->
              new Start(
                  s.get(JOB),
                  s.get(ON).stream().map(DecisionJson::share).toList(),
                  s.get(ALLOCATED));
          case "release" -> new Release(s.get(JOB), s.get(NODE), tier(s), s.get(GPUS));
          case "reserve" -> new Reserve(s.get(JOB), s.get(NODE), tier(s), s.get(GPUS));
          case "absorb" -> new Absorb(s.get(JOB), s.get(NODE), tier(s), s.get(GPUS));
          case "claim" ->
              new Claimed(
                  s.get(JOB),
                  s.get(ON).stream().map(DecisionJson::share).toList(),
                  s.get(READY_AT),
                  s.get(YIELDED));
          case "preempt" -> new Preempt(s.get(JOB), s.get(FOR));
          case "charge" ->
              new Charge(s.get(ACCOUNT), s.get(JOB), s.get(TFLOP_SECONDS), s.get(FACTOR));
          default -> new Wait(s.get(JOB), s.get(CODE), s.get(BEHIND), s.get(MESSAGE));
        };
    return new Decided(outcome, s.get(RULE), s.get(RULE_NAME));
  }

  private static HoldingCost accrual(Section s) {
    return new HoldingCost(
        s.get(KIND),
        s.get(JOB),
        s.get(ACCOUNT),
        s.get(NODE),
        tier(s),
        s.get(GPUS),
        s.get(FROM),
        s.get(TO),
        s.get(TFLOP_SECONDS));
  }

  private static Share share(Section s) {
    return new Share(s.get(NODE), tier(s), s.get(GPUS));
  }

  private static Tier tier(Section s) {
    return new Tier(s.get(TIER), 0, 0, 0, false, null, null);
  }
}
