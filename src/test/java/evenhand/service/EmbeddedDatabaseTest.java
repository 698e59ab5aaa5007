package evenhand.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class EmbeddedDatabaseTest {
  private static final int TRIES = 1_000;

  @Test
  void whenItsProcessIsKilledItIsStartedAgainWithWhatWasWritten(@TempDir Path folder)
      throws Exception {
    try (EmbeddedDatabase database = new EmbeddedDatabase(folder, 0)) {
      try (Connection connection = connect(database);
          Statement sql = connection.createStatement()) {
        sql.execute("create table kept as select 7 as it");
      }
      int port = database.port();
      for (int time = 0; time < 2; time++) {
        long pid = postmaster(folder);
        assertThat(ProcessHandle.of(pid).orElseThrow().destroyForcibly()).isTrue();
        assertThat(kept(database, folder, pid)).isEqualTo(7);
        assertThat(database.port()).isEqualTo(port);
      }
    }
    assertThat(EmbeddedDatabase.running(folder)).isEmpty();
  }

  private static Connection connect(EmbeddedDatabase database) throws SQLException {
    return DriverManager.getConnection(database.url(), "postgres", database.password());
  }

  private static long postmaster(Path folder) throws Exception {
    return Long.parseLong(
        Files.readAllLines(folder.resolve("database/postmaster.pid")).get(0).strip());
  }

  private static int kept(EmbeddedDatabase database, Path folder, long before) throws Exception {
    Exception last = null;
    for (int i = 0; i < TRIES; i++) {
      try {
        if (postmaster(folder) != before) {
          try (Connection connection = connect(database);
              Statement sql = connection.createStatement();
              ResultSet found = sql.executeQuery("select it from kept")) {
            found.next();
            return found.getInt(1);
          }
        }
      } catch (Exception e) {
        last = e;
      }
      Thread.sleep(100);
    }
    throw new AssertionError("it did not come back", last);
  }
}
