package evenhand.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.SpecVersion;
import io.swagger.v3.oas.models.media.Schema;
import java.lang.reflect.RecordComponent;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springdoc.core.customizers.OperationCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.ResolvableType;

/**
 * What the description says of answers: which fields are always there and which may be null, taken
 * from the records that make them.
 */
@Configuration(proxyBeanMethods = false)
class DescribedAnswers {
  private final Set<Class<?>> records = ConcurrentHashMap.newKeySet();

  /** Notes the records of every route's answer. */
  @Bean
  OperationCustomizer answersOfRoutes() {
    return (operation, route) -> {
      collect(ResolvableType.forMethodReturnType(route.getMethod()));
      return operation;
    };
  }

  private void collect(ResolvableType type) {
    for (ResolvableType part : type.getGenerics()) {
      collect(part);
    }
    Class<?> raw = type.toClass();
    if (raw.isRecord() && raw.getPackageName().startsWith("evenhand") && records.add(raw)) {
      for (RecordComponent component : raw.getRecordComponents()) {
        collect(ResolvableType.forType(component.getGenericType()));
      }
    }
  }

  /** Marks what is always there and what may be null. */
  void complete(OpenAPI api) {
    Map<String, Schema> schemas = api.getComponents().getSchemas();
    for (Class<?> answer : records) {
      io.swagger.v3.oas.annotations.media.Schema named =
          answer.getAnnotation(io.swagger.v3.oas.annotations.media.Schema.class);
      Schema<?> schema = schemas.get(named == null ? answer.getSimpleName() : named.name());
      if (schema != null && schema.getProperties() != null) {
        for (RecordComponent component : answer.getRecordComponents()) {
          complete(schema, component);
        }
      }
    }
    // A list's own name is made of that of its items.
    schemas.forEach(
        (name, schema) -> {
          if (name.startsWith("Listing") && schema.getProperties() != null) {
            schema.addRequiredItem("items");
            schema.addRequiredItem("next_cursor");
            orNull(schema, "next_cursor");
          }
        });
  }

  private static void complete(Schema<?> schema, RecordComponent component) {
    JsonProperty property = component.getAccessor().getAnnotation(JsonProperty.class);
    String name = property == null ? component.getName() : property.value();
    if (!schema.getProperties().containsKey(name)) {
      return;
    }
    boolean leftOut =
        component.getAccessor().isAnnotationPresent(JsonInclude.class)
            || component.getDeclaringRecord().isAnnotationPresent(JsonInclude.class);
    if (!leftOut || component.getType().isPrimitive()) {
      schema.addRequiredItem(name);
    }
    if (!component.getType().isPrimitive()) {
      orNull(schema, name);
    }
  }

  private static void orNull(Schema<?> schema, String name) {
    Schema<?> property = schema.getProperties().get(name);
    if (property.get$ref() != null) {
      Schema<Object> nothing = new Schema<>(SpecVersion.V31);
      nothing.addType("null");
      Schema<Object> either = new Schema<>(SpecVersion.V31);
      either.addAnyOfItem(new Schema<>(SpecVersion.V31).$ref(property.get$ref()));
      either.addAnyOfItem(nothing);
      schema.addProperty(name, either);
    } else if (property.getTypes() != null
        && !property.getTypes().isEmpty()
        && property.getEnum() == null) {
      property.addType("null");
    }
  }
}
