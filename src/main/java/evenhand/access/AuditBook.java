package evenhand.access;

import java.time.Instant;
import java.util.List;

/** Where every change is written down, before it is made; nothing in it is changed or deleted. */
public interface AuditBook {

  /** One that keeps nothing, for tools without a memory. */
  AuditBook NONE =
      new AuditBook() {
        @Override
        public long begun(AuditEntry entry) {
          return 0;
        }

        @Override
        public void ended(long id, int status, Instant at) {
          // nothing was written
        }

        @Override
        public List<AuditEntry> entries(Filter filter, int limit, long before) {
          return List.of();
        }
      };

  /**
   * Writes an entry down: of a change that is about to be made, or, with its status, of one that is
   * refused.
   *
   * @return its id
   */
  long begun(AuditEntry entry);

  /** Writes down how it came out. */
  void ended(long id, int status, Instant at);

  /**
   * Entries, newest first.
   *
   * @param before only ids below this one; {@link Long#MAX_VALUE} for the newest
   */
  List<AuditEntry> entries(Filter filter, int limit, long before);

  /**
   * Which entries are meant; null for all.
   *
   * @param path what the path begins with
   * @param outcome one of {@link AuditEntry#OUTCOMES}
   */
  record Filter(String user, String path, String outcome, Instant from, Instant to) {}
}
