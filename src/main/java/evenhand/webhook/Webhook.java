package evenhand.webhook;

import evenhand.cycle.events.Event;
import java.net.URI;
import java.time.Duration;
import java.util.Set;

/**
 * Who is told.
 *
 * @param name under which its place is kept; its address, where it has none of its own
 * @param secret signs what is sent; null for none
 * @param kinds empty for all
 * @param timeout of one try
 * @param giveUpAfter how long one event is tried, from the first try on
 */
public record Webhook(
    String name,
    URI url,
    String secret,
    Set<Event.Kind> kinds,
    Duration timeout,
    Duration giveUpAfter) {
  public Webhook {
    kinds = Set.copyOf(kinds);
  }
}
