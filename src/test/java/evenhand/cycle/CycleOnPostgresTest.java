package evenhand.cycle;

import evenhand.store.Database;
import evenhand.store.PostgresStore;
import org.junit.jupiter.api.AfterEach;

/** The same on PostgreSQL. */
class CycleOnPostgresTest extends CycleTest {
  @Override
  Store make() {
    return new PostgresStore(Database.fresh());
  }

  @AfterEach
  void close() {
    ((PostgresStore) store).close();
  }
}
