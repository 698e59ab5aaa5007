package evenhand.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import evenhand.cycle.Desk;
import java.util.List;
import java.util.function.Function;

/**
 * A part of a list.
 *
 * @param next the cursor of the part after it, null at the end
 */
record Listing<T>(List<T> items, @JsonProperty("next_cursor") String next) {

  static <A, B> Listing<B> of(Desk.Page<A> page, Function<A, B> view) {
    return new Listing<>(page.items().stream().map(view).toList(), page.next());
  }
}
