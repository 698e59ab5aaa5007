package evenhand.cli;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** {@code events}: what happened, and with {@code --follow} what happens. */
@picocli.CommandLine.Command(
    name = "events",
    description = "List what happened, newest first; with --follow tell it as it happens.")
final class EventsCommand extends Command {
  @Option(
      names = {"-f", "--follow"},
      description = "Go on telling until it is ended or nobody reads on.")
  private boolean follow;

  @Option(
      names = "--since",
      paramLabel = "ID",
      description = "What came after this event, oldest first; 0 for all that are kept.")
  private Long since;

  @Option(names = "--kinds", paramLabel = "KINDS", description = "Only these, with commas between.")
  private String kinds;

  @Option(names = "--job", paramLabel = "ID", description = "Only about this job.")
  private String job;

  @Option(names = "--account", paramLabel = "ID", description = "Only of this account.")
  private String account;

  @Mixin private Limit limit = new Limit(100);

  @Mixin private ServiceAddress service;
  @Mixin private Output output;

  EventsCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() {
    if (since != null && since < 0) {
      throw wrongUse("--since must be the id of an event, or 0.");
    }
    int most = limit.most();
    if (follow) {
      service.follow(console(), path(null), since, this::tell);
      return Exit.DONE;
    }
    ServiceAddress.Found found =
        service.list(console(), path(since == null ? null : Long.toString(since)), most);
    if (output.isJson()) {
      print(Output.items(found.items()));
    } else {
      Table table = Table.of(">ID", "AT", "KIND", "WHAT");
      for (JsonNode event : found.items()) {
        table.row(
            Show.text(event, "id"),
            Show.text(event, "at"),
            Show.text(event, "kind"),
            Show.text(event, "message"));
      }
      console().out().print(table.text());
    }
    limit.saidOf(found, console());
    return Exit.DONE;
  }

  private String path(String after) {
    return ServiceAddress.path(
        "/v1/events", "kinds", kinds, "job", job, "account", account, "since", after);
  }

  /** Whether it could be told: false when whoever read it has gone, as after {@code | head -1}. */
  private boolean tell(JsonNode event) {
    print(
        output.isJson()
            ? event.toString()
            : Show.text(event, "id")
                + "  "
                + Show.text(event, "at")
                + "  "
                + Show.text(event, "kind")
                + "  "
                + Table.clean(Show.text(event, "message")));
    return !console().out().checkError();
  }
}
