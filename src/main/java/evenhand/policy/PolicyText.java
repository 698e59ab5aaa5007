package evenhand.policy;

import evenhand.input.Document;
import evenhand.input.Field;
import evenhand.input.InputFault;
import evenhand.input.Section;
import evenhand.input.Shape;
import evenhand.input.Value;
import evenhand.policy.PolicyFault.Fault;
import evenhand.policy.PolicyYaml.Choice;
import evenhand.policy.PolicyYaml.Parameter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** Reads a policy's YAML, strictly. */
final class PolicyText {
  private static final String WORDS = "text of 1 to 2000 characters";
  private static final Predicate<String> IS_WORDS =
      text ->
          !text.isBlank()
              && text.length() <= 2000
              && text.codePoints().noneMatch(c -> c != '\n' && Field.isUnprintable(c));
  private static final String KEY = "a word such as tier_desc";
  private static final Predicate<String> IS_KEY = text -> text.matches("[A-Za-z][A-Za-z0-9_]*");

  private static final Field<String> CLAUSE = Field.text("clause").means("the clause it serves");
  private static final Field<String> MEANING =
      Field.text("meaning", WORDS, IS_WORDS).means("what it settles, for people");
  private static final Field<List<String>> KEYS =
      Field.texts("keys", 100, KEY, IS_KEY).means("what is compared, the first key first");
  private static final Shape CHOICE = Shape.of("a choice", CLAUSE, KEYS, MEANING);
  private static final List<Field<Section>> CHOICES =
      List.of("order", "preference", "reserve_preference", "victims", "explain").stream()
          .map(name -> Field.object(name, CHOICE).or(null))
          .toList();

  private static final Field<String> VALUE =
      Field.text(
          "value", "a number, a duration or a word", t -> IS_WORDS.test(t) && !t.contains("\n"));
  private static final Field<String> UNIT = Field.text("unit").or(null);
  private static final Field<List<String>> ONE_OF =
      Field.texts("one_of", 100, WORDS, IS_WORDS).or(null);
  private static final Field<String> READ_BY = Field.word("read_by", List.of("service")).or(null);
  private static final Shape PARAMETER =
      Shape.of("a parameter", VALUE, UNIT, ONE_OF, CLAUSE, READ_BY, MEANING);

  private static final Field<String> POLICY = Field.text("policy");
  private static final Field<String> TITLE = Field.text("title");
  private static final Field<List<String>> MODULES =
      Field.texts(
          "modules",
          1000,
          "a rule file below the rules folder without its ending, e.g. fit/F1",
          t -> IS_WORDS.test(t) && !t.contains("\n"));
  private static final Field<Section> ALL_CHOICES =
      Field.object("choices", Shape.of("the choices", CHOICES.toArray(Field<?>[]::new)));
  private static final Field<Map<String, Section>> PARAMETERS =
      Field.map("parameters", PARAMETER).or(Map.of());
  private static final Field<Map<String, String>> KEPT_BY =
      Field.textMap(
              "kept_by",
              1000,
              "the id of a clause",
              t -> t.matches("[A-Za-z][A-Za-z0-9.]{0,15}"),
              WORDS,
              IS_WORDS)
          .or(Map.of());
  private static final Shape SHAPE =
      Shape.of("a policy", POLICY, TITLE, MODULES, ALL_CHOICES, PARAMETERS, KEPT_BY);

  private PolicyText() {}

  /**
   * Reads a policy.
   *
   * @param path of its file, for messages
   * @throws PolicyFault with every fault of form, each with its line
   */
  static PolicyYaml read(String path, String text) throws PolicyFault {
    try {
      Document document = Document.yaml(path, text);
      Section s = document.read(SHAPE);
      Map<String, Choice> choices = new LinkedHashMap<>();
      for (Field<Section> field : CHOICES) {
        Section c = s.get(ALL_CHOICES).get(field);
        if (c != null) {
          choices.put(field.name(), new Choice(c.get(CLAUSE), c.get(KEYS), c.get(MEANING)));
        }
      }
      Map<String, Parameter> parameters = new LinkedHashMap<>();
      s.get(PARAMETERS)
          .forEach(
              (name, p) ->
                  parameters.put(
                      name,
                      new Parameter(
                          p.get(VALUE),
                          p.get(UNIT),
                          p.get(ONE_OF),
                          p.get(CLAUSE),
                          p.get(READ_BY),
                          p.get(MEANING))));
      Map<String, Integer> lines = new LinkedHashMap<>();
      note(document.top(), lines);
      return new PolicyYaml(
          path,
          s.get(POLICY),
          s.get(TITLE),
          s.get(MODULES),
          choices,
          parameters,
          s.get(KEPT_BY),
          lines);
    } catch (InputFault e) {
      throw new PolicyFault(e.faults().stream().map(PolicyText::fault).toList());
    }
  }

  private static Fault fault(evenhand.input.Fault f) {
    String place = f.path().isEmpty() ? "" : f.path() + ": ";
    return new Fault(f.file(), f.line(), null, place + f.message());
  }

  private static void note(Value value, Map<String, Integer> lines) {
    lines.put(value.path(), value.line());
    if (value.kind() == Value.Kind.OBJECT) {
      value.members().values().forEach(member -> note(member, lines));
    } else if (value.kind() == Value.Kind.LIST) {
      value.items().forEach(item -> note(item, lines));
    }
  }
}
