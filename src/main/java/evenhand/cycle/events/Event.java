package evenhand.cycle.events;

import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Something that happened.
 *
 * @param id 0 before it is written; ids grow, with gaps
 * @param job id of the job it is about, or null
 * @param account whose it is, or null
 * @param node the node it is about, or null
 * @param message a sentence for people
 * @param data what else there is to say, by kind: numbers, texts, times as text, lists and maps of
 *     these
 */
public record Event(
    long id,
    Instant at,
    Kind kind,
    String job,
    String account,
    String node,
    String message,
    Map<String, Object> data) {

  /** What can happen. Each end of a job is one of FINISHED, CANCELLED and PREEMPTED. */
  public enum Kind {
    SUBMITTED("a job was put in the queue"),
    DISPATCHED("a job was given its GPUs; it may still wait for others to leave them"),
    STARTED("a job runs"),
    RESERVED("a job holds GPUs while it waits, or more of them than before"),
    RESERVATION_ENDED("it holds them no longer"),
    CLAIMED("the first job gathers GPUs that others have still to leave"),
    CLAIM_ENDED("its claim is over"),
    PREEMPT_SOON("a job was told to leave its GPUs, and until when"),
    PREEMPTED("it made room; data.final says whether that is its end"),
    REQUEUED("a job is back in the queue for its next attempt"),
    FINISHED("a job ended: COMPLETED, FAILED or TIMEOUT"),
    CANCELLED("a job was cancelled"),
    CHARGED("an account was charged for a job"),
    NODE_DRAINING("a node gets no new work; what runs there leaves"),
    NODE_DRAINED("nothing runs there any more"),
    NODE_DOWN("a node is away"),
    NODE_UP("a node is used again"),
    WEIGHTS_CHANGED("the weight of an account was changed");

    private final String means;

    Kind(String means) {
      this.means = means;
    }

    /** As it is written outside. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    public String means() {
      return means;
    }

    public static Optional<Kind> of(String word) {
      return Stream.of(values()).filter(k -> k.word().equals(word)).findFirst();
    }
  }

  public Event {
    data = Collections.unmodifiableMap(new LinkedHashMap<>(data));
  }

  /** Its fields as they are written outside; those that are null are there too. */
  public Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("id", Long.toString(id));
    fields.put("at", at.toString());
    fields.put("kind", kind.word());
    fields.put("job", job);
    fields.put("account", account);
    fields.put("node", node);
    fields.put("message", message);
    fields.put("data", data);
    return fields;
  }

  /** The same with the id it was written under. */
  public Event numbered(long number) {
    return new Event(number, at, kind, job, account, node, message, data);
  }
}
