package evenhand.api;

import evenhand.cycle.events.Event;
import evenhand.cycle.events.EventFeed;
import evenhand.cycle.events.EventFilter;
import evenhand.input.Spelling;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.Parameter;
import io.swagger.v3.oas.annotations.enums.ParameterIn;
import io.swagger.v3.oas.annotations.media.Schema;
import io.swagger.v3.oas.annotations.tags.Tag;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.springframework.http.HttpHeaders;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** What happened, as a list or told as it happens. */
@RestController
@Tag(name = "events")
@RequestMapping(path = "/v1/events")
class EventsRoute {
  private static final String CYCLE = "cycle";
  private static final String STREAM = "text/event-stream";
  private static final String LAST = "Last-Event-ID";
  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");

  private final EventFeed feed;
  private final EventStreams streams;

  EventsRoute(EventFeed feed, EventStreams streams) {
    this.feed = feed;
    this.streams = streams;
  }

  @GetMapping
  @Operation(
      summary = "What happened: a list, or with Accept: text/event-stream told as it happens",
      description =
          "As a list newest first; with since= what came after that event, oldest first. As a"
              + " stream each event has its id, so that a client that was cut off goes on with"
              + " Last-Event-ID or since=; besides there are ready, first, and cycle each time that"
              + " a cycle has ended here, which is not kept and has no id.")
  @Parameter(
      in = ParameterIn.QUERY,
      name = "kinds",
      description = "only these kinds, with commas between, e.g. started,preempted")
  @Parameter(in = ParameterIn.QUERY, name = "account", description = "only of this account")
  @Parameter(in = ParameterIn.QUERY, name = "job", description = "only about this job")
  @Parameter(
      in = ParameterIn.QUERY,
      name = "since",
      description = "id of the last event that is known; 0 for all that are kept")
  Listing<HappenedView> events(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    Query query = Query.of(request, "kinds", "account", "job", "since");
    String kinds = query.text("kinds");
    String job = number(query, "job");
    EventFilter filter = new EventFilter(kinds(kinds), query.text("account"), job);
    String since = number(query, "since");
    boolean nothingKept = kinds != null && filter.kinds().isEmpty();
    if (wantsStream(request)) {
      String last = request.getHeader(LAST);
      if (since == null && last != null && NUMBER.matcher(last).matches()) {
        since = last;
      }
      boolean ticks = kinds == null || List.of(kinds.split(",")).contains(CYCLE);
      streams.open(
          request,
          response,
          nothingKept ? new EventFilter(Set.of(), "", "0") : filter,
          since == null ? null : Long.valueOf(since),
          ticks);
      return null;
    }
    if (nothingKept) {
      return new Listing<>(List.of(), null);
    }
    return since == null ? newest(query, filter) : after(query, filter, Long.parseLong(since));
  }

  private Listing<HappenedView> newest(Query query, EventFilter filter) {
    String cursor = number(query, "cursor");
    long before = cursor == null ? Long.MAX_VALUE : Long.parseLong(cursor);
    List<Event> found = feed.log().back(filter, query.limit() + 1, before);
    return part(found, query.limit());
  }

  private Listing<HappenedView> after(Query query, EventFilter filter, long since) {
    String cursor = number(query, "cursor");
    long from = cursor == null ? since : Long.parseLong(cursor);
    return part(feed.log().forward(from, feed.look(), filter, query.limit() + 1), query.limit());
  }

  private static Listing<HappenedView> part(List<Event> read, int limit) {
    List<Event> items = new ArrayList<>(read.subList(0, Math.min(limit, read.size())));
    return new Listing<>(
        items.stream().map(HappenedView::of).toList(),
        read.size() > limit ? Long.toString(items.get(limit - 1).id()) : null);
  }

  private static boolean wantsStream(HttpServletRequest request) {
    String accept = request.getHeader(HttpHeaders.ACCEPT);
    return accept != null && accept.contains(STREAM);
  }

  private static String number(Query query, String name) {
    String text = query.text(name);
    if (text != null && !NUMBER.matcher(text).matches()) {
      throw Query.fault(name, "must be a whole number that this service gave out");
    }
    return text;
  }

  private static Set<Event.Kind> kinds(String text) {
    Set<Event.Kind> kinds = EnumSet.noneOf(Event.Kind.class);
    if (text == null) {
      return kinds;
    }
    List<String> known = new ArrayList<>(List.of(CYCLE));
    for (Event.Kind kind : Event.Kind.values()) {
      known.add(kind.word());
    }
    for (String word : text.split(",", -1)) {
      if (!known.contains(word)) {
        throw Query.fault(
            "kinds", "\"" + word + "\" is no kind of event; " + Spelling.hint(word, known));
      }
      Event.Kind.of(word).ifPresent(kinds::add);
    }
    return kinds;
  }

  /** See {@link Event}. */
  @Schema(name = "Event")
  record HappenedView(
      String id,
      String at,
      String kind,
      String job,
      String account,
      String node,
      String message,
      Map<String, Object> data) {

    static HappenedView of(Event e) {
      return new HappenedView(
          Long.toString(e.id()),
          e.at().toString(),
          e.kind().word(),
          e.job(),
          e.account(),
          e.node(),
          e.message(),
          e.data());
    }
  }
}
