package evenhand.api;

import evenhand.access.AuditEntry;
import evenhand.input.Field;
import evenhand.input.Shape;
import io.swagger.v3.oas.models.Components;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.PathItem;
import io.swagger.v3.oas.models.SpecVersion;
import io.swagger.v3.oas.models.info.Info;
import io.swagger.v3.oas.models.media.Content;
import io.swagger.v3.oas.models.media.MediaType;
import io.swagger.v3.oas.models.media.Schema;
import io.swagger.v3.oas.models.parameters.Parameter;
import io.swagger.v3.oas.models.parameters.RequestBody;
import io.swagger.v3.oas.models.responses.ApiResponse;
import io.swagger.v3.oas.models.security.SecurityRequirement;
import io.swagger.v3.oas.models.security.SecurityScheme;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springdoc.core.customizers.OpenApiCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/**
 * What the OpenAPI description says beyond the routes themselves: bodies come from the very shapes
 * that read them, so that they cannot differ.
 */
@Configuration(proxyBeanMethods = false)
class Description {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  /**
   * Examples of what is sent, by the schema of the body: together they are a small site, each can
   * be sent as it stands.
   */
  private static final Map<String, String> BODIES =
      Map.ofEntries(
          Map.entry(
              "Submission",
              """
              {"name": "train", "account": "KDG", "num_gpus": 1, "min_runtime_s": 0,
               "script": "#!/bin/sh\\nsleep 30\\n", "env": {"EPOCHS": "3"}, "args": ["--fast"]}
              """),
          Map.entry("Cancellation", "{}"),
          Map.entry("NewCheckpoint", "{\"at\": null}"),
          Map.entry("NewDrain", "{\"reason\": \"fan 3 is loud\"}"),
          Map.entry("EndOfDrain", "{}"),
          Map.entry(
              "NewCorrection",
              "{\"account\": \"KDG\", \"tflop_s\": 100, \"reason\": \"a node was charged twice\"}"),
          Map.entry(
              "NewWeights", "{\"weights\": {\"KDG\": 2}, \"reason\": \"their paper is due\"}"),
          Map.entry(
              "NewTree",
              """
              {"accounts": [{"id": "lab", "owners": ["kim"]},
                            {"id": "KDG", "parent": "lab", "weight": 3, "users": ["lee"]},
                            {"id": "BCG", "parent": "lab"}],
               "reason": "a new year"}
              """),
          Map.entry(
              "NewToken",
              """
              {"name": "lee", "roles": ["submitter"], "accounts": ["KDG"], "expires_in_s": 7776000}
              """),
          Map.entry("NewPolicyPlan", "{\"policy\": \"reservation\", \"days\": 1}"),
          Map.entry(
              "NewPolicy",
              "{\"hash\": \"sha256:0123456789abcdef\", \"reason\": \"whole nodes stay free\"}"),
          Map.entry("PolicyRollback", "{\"reason\": \"gangs wait longer\"}"),
          Map.entry("NewPolicyShadow", "{\"policy\": \"off\"}"));

  /** Examples of what stands in a path, by what stands before it. */
  private static final Map<String, String> IN_PATHS =
      Map.of(
          "/v1/jobs/", "1",
          "/v1/decisions/", "1",
          "/v1/nodes/", "n1",
          "/v1/accounts/", "lab",
          "/v1/tokens/", "lee",
          "/v1/policy/plans/", "1");

  /** Examples of answers, by the schema they have; see the tests, which hold them against it. */
  private static final Map<String, Object> ANSWERS = answers();

  private static final String TOKEN = "token";
  private static final Set<String> TIMES = Set.of("at", "since", "until", "from", "to");
  private static final Set<String> FLAGS = Set.of("changes", "estimate", "retired");
  private static final Map<String, List<String>> WORDS =
      Map.of(
          "/v1/jobs?state", JobsRoute.STATES,
          "/v1/nodes?state", ContractRoute.STATES,
          "/v1/ledger?kind", LedgerRoute.KINDS,
          "/v1/nodes/{node}/drains?source", ContractRoute.SOURCES,
          "/v1/policy/history?kind", PolicyRoute.KINDS,
          "/v1/policy/plans?verdict", PolicyRoute.VERDICTS,
          "/v1/audit?outcome", AuditEntry.OUTCOMES);

  @Bean
  OpenApiCustomizer evenhandDescription(DescribedAnswers answers) {
    return api -> {
      answers.complete(api);
      complete(api);
    };
  }

  private static void complete(OpenAPI api) {
    api.info(
        new Info()
            .title("evenhand")
            .version("v1")
            .description("Policy service for GPU clusters run by Slurm"));
    api.servers(null); // the host it was asked by says nothing
    if (api.getComponents() == null) {
      api.components(new Components());
    }
    api.getComponents()
        .addSchemas("Submission", schema(SubmissionForm.SHAPE))
        .addSchemas("Cancellation", schema(SubmissionForm.CANCELLATION))
        .addSchemas("NewDrain", schema(ContractRoute.DRAIN))
        .addSchemas("EndOfDrain", schema(ContractRoute.RESUME))
        .addSchemas("NewCheckpoint", schema(ContractRoute.CHECKPOINT))
        .addSchemas("NewCorrection", schema(LedgerRoute.CORRECTION))
        .addSchemas("NewWeights", schema(AccountsRoute.NEW_WEIGHTS))
        .addSchemas("NewTree", schema(AccountsRoute.NEW_TREE))
        .addSchemas("NewPolicyPlan", schema(PolicyRoute.PLAN))
        .addSchemas("NewPolicy", schema(PolicyRoute.APPLY))
        .addSchemas("PolicyRollback", schema(PolicyRoute.ROLLBACK))
        .addSchemas("NewPolicyShadow", schema(PolicyRoute.SHADOW))
        .addSchemas("NewToken", schema(TokensRoute.NEW_TOKEN))
        .addSchemas("Problem", problem());
    // recorded text, which the model behind it takes for a string
    api.getComponents()
        .getSchemas()
        .get("RecordedDecision")
        .addProperty("decision", typed("object"));
    api.getComponents()
        .addSecuritySchemes(
            TOKEN,
            new SecurityScheme()
                .type(SecurityScheme.Type.HTTP)
                .scheme("bearer")
                .description(
                    "A token of evenhand token create, or of the site's own login; none is asked"
                        + " for where security is off"));
    api.addSecurityItem(new SecurityRequirement().addList(TOKEN));
    api.getPaths().get("/v1/access").getGet().security(List.of());
    api.getPaths().forEach(Description::complete);
    api.getPaths()
        .forEach(
            (path, item) -> {
              if (isList(api, item)) {
                item.getGet()
                    .addParametersItem(
                        query("limit", "most entries to answer, 1 to " + Query.MOST)
                            .schema(typed("integer")._default(Query.USUAL)))
                    .addParametersItem(query("cursor", "next_cursor of the part before"));
              }
              item.readOperations().forEach(Description::shown);
            });
  }

  private static void complete(String path, PathItem item) {
    if (!path.startsWith("/v1/")) {
      return;
    }
    if (path.equals("/v1/events")) {
      // A list, or a stream: which, the request says. The list is what has a schema.
      Content answer = item.getGet().getResponses().get("200").getContent();
      answer.addMediaType("application/json", answer.remove("*/*"));
    }
    for (Operation operation : item.readOperations()) {
      if (operation.getParameters() != null) {
        operation.getParameters().stream()
            .filter(parameter -> parameter.getSchema() == null)
            .forEach(parameter -> parameter.setSchema(typeOf(path, parameter.getName())));
      }
      if (operation.getParameters() != null) {
        operation.getParameters().stream()
            .filter(parameter -> "path".equals(parameter.getIn()))
            .forEach(
                parameter ->
                    IN_PATHS.forEach(
                        (before, example) -> {
                          if (path.startsWith(before)) {
                            parameter.example(example);
                          }
                        }));
      }
      operation
          .getResponses()
          .addApiResponse(
              "default",
              new ApiResponse()
                  .description("A problem")
                  .content(content("application/problem+json", "Problem")));
    }
    if (path.equals("/v1/jobs")) {
      item.getPost().requestBody(body("Submission", true));
      item.getPost()
          .getResponses()
          .addApiResponse(
              "201",
              new ApiResponse().description("Created").content(content("application/json", "Job")));
    }
    if (path.equals("/v1/jobs/{id}/cancel")) {
      item.getPost().requestBody(body("Cancellation", false));
    }
    if (path.equals("/v1/jobs/{id}/checkpoint")) {
      item.getPost().requestBody(body("NewCheckpoint", false));
    }
    if (path.equals("/v1/nodes/{node}/drain")) {
      item.getPost().requestBody(body("NewDrain", true));
    }
    if (path.equals("/v1/nodes/{node}/resume")) {
      item.getPost().requestBody(body("EndOfDrain", false));
    }
    if (path.equals("/v1/ledger/corrections")) {
      item.getPost().requestBody(body("NewCorrection", true));
    }
    if (path.equals("/v1/accounts/{id}/weights")) {
      item.getPut().requestBody(body("NewWeights", true));
    }
    if (path.equals("/v1/accounts/plan") || path.equals("/v1/accounts/apply")) {
      item.getPost().requestBody(body("NewTree", true));
    }
    Map<String, RequestBody> ofPolicy =
        Map.of(
            "/v1/policy/plan", body("NewPolicyPlan", false),
            "/v1/policy/apply", body("NewPolicy", true),
            "/v1/policy/rollback", body("PolicyRollback", true),
            "/v1/policy/shadow", body("NewPolicyShadow", true));
    if (ofPolicy.containsKey(path)) {
      item.getPost().requestBody(ofPolicy.get(path));
    }
    if (path.equals("/v1/tokens")) {
      item.getPost().requestBody(body("NewToken", true));
    }
    if (path.equals("/v1/tokens") || path.equals("/v1/ledger/corrections")) {
      ApiResponse made = item.getPost().getResponses().remove("200");
      item.getPost().getResponses().addApiResponse("201", made.description("Created"));
    }
  }

  /** Whether the answer of a GET is a part of a list: then it says where the next part begins. */
  private static boolean isList(OpenAPI api, PathItem item) {
    MediaType answer =
        item.getGet() == null
            ? null
            : item.getGet().getResponses().get("200").getContent().get("application/json");
    String ref = answer == null ? null : answer.getSchema().get$ref();
    Schema<?> schema =
        ref == null
            ? null
            : api.getComponents().getSchemas().get(ref.substring(ref.lastIndexOf('/') + 1));
    return schema != null
        && schema.getProperties() != null
        && schema.getProperties().containsKey("next_cursor");
  }

  /** The type of a parameter after the ?: times, flags, words of a list, else text. */
  private static Schema<?> typeOf(String path, String name) {
    if (TIMES.contains(name) && !path.equals("/v1/events")) {
      return typed("string").format("date-time");
    }
    if (FLAGS.contains(name)) {
      return typed("boolean");
    }
    Schema<Object> text = typed("string");
    WORDS.getOrDefault(path + "?" + name, List.of()).forEach(text::addEnumItemObject);
    return text;
  }

  /** Adds an example to each answer that has one. */
  private static void shown(Operation operation) {
    operation
        .getResponses()
        .values()
        .forEach(
            response -> {
              if (response.getContent() == null) {
                return;
              }
              response
                  .getContent()
                  .values()
                  .forEach(
                      media -> {
                        String ref = media.getSchema() == null ? null : media.getSchema().get$ref();
                        Object example =
                            ref == null
                                ? null
                                : ANSWERS.get(ref.substring(ref.lastIndexOf('/') + 1));
                        if (example != null) {
                          media.example(example);
                        }
                      });
            });
  }

  private static Map<String, Object> answers() {
    try (InputStream in = Description.class.getResourceAsStream("/openapi/answers.json")) {
      return JSON.readValue(in, new TypeReference<>() {});
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Parameter query(String name, String meaning) {
    return new Parameter().in("query").name(name).description(meaning).schema(typed("string"));
  }

  private static RequestBody body(String schema, boolean required) {
    Content content = content("application/json", schema);
    if (BODIES.containsKey(schema)) {
      content.get("application/json").example(JSON.readValue(BODIES.get(schema), Map.class));
    }
    return new RequestBody().required(required).content(content);
  }

  private static Content content(String type, String schema) {
    return new Content()
        .addMediaType(
            type, new MediaType().schema(new Schema<>().$ref("#/components/schemas/" + schema)));
  }

  private static Schema<?> schema(Shape shape) {
    Schema<Object> schema = typed("object");
    schema.description(shape.title()).additionalProperties(false);
    for (Field<?> field : shape.fields()) {
      boolean any = field.type().equals("any");
      Schema<Object> part = any ? new Schema<>(SpecVersion.V31) : typed(field.type());
      if (!any && !field.isRequired()) {
        part.addType("null");
      }
      part.description(field.meaning() + ". Must be " + field.right() + ". " + defaultText(field));
      if (field.type().equals("array")) {
        part.items(field.inner() == null ? typed("string") : schema(field.inner()));
      }
      if (field.type().equals("object")) {
        part.additionalProperties(typed("string"));
      }
      schema.addProperty(field.name(), part);
      if (field.isRequired()) {
        schema.addRequiredItem(field.name());
      }
    }
    return schema;
  }

  /** A schema of one type, as OpenAPI 3.1 writes it. */
  private static Schema<Object> typed(String type) {
    Schema<Object> schema = new Schema<>(SpecVersion.V31);
    schema.addType(type);
    return schema;
  }

  private static String defaultText(Field<?> field) {
    return field.isRequired() ? "Required" : "Default: " + field.defaultWords();
  }

  private static Schema<?> problem() {
    Schema<Object> schema = typed("object");
    Map.of(
            "type", "urn:evenhand:problem:CODE",
            "title", "what kind of problem it is",
            "detail", "what was asked, why not, what would work",
            "code", "stable, for programs",
            "rule", "the clause that refused",
            "incident", "names the entry in the service's log")
        .entrySet()
        .stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(e -> schema.addProperty(e.getKey(), typed("string").description(e.getValue())));
    schema.addProperty("status", typed("integer"));
    Schema<Object> error = typed("object");
    error.addProperty("path", typed("string")).addProperty("message", typed("string"));
    schema.addProperty("errors", typed("array").items(error));
    return schema;
  }
}
