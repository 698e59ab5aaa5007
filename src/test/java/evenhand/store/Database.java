package evenhand.store;

import com.zaxxer.hikari.HikariDataSource;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.jdbc.core.simple.JdbcClient;

/** A real PostgreSQL for tests, one for the whole run; every test gets a database of its own. */
public final class Database {
  private static final AtomicInteger COUNT = new AtomicInteger();
  private static EmbeddedPostgres server;

  private Database() {}

  /** A new database with nothing in it, for tests of the migrations themselves. */
  public static synchronized DataSource empty() {
    fresh();
    String name = "e" + COUNT.incrementAndGet();
    JdbcClient.create(server.getPostgresDatabase())
        .sql("create database " + name + " template template0")
        .update();
    return server.getDatabase("postgres", name);
  }

  /** A new database with all migrations applied. */
  public static synchronized DataSource fresh() {
    try {
      if (server == null) {
        server = EmbeddedPostgres.builder().start();
        JdbcClient.create(server.getPostgresDatabase()).sql("create database model").update();
        Flyway.configure().dataSource(server.getDatabase("postgres", "model")).load().migrate();
      }
      String name = "t" + COUNT.incrementAndGet();
      JdbcClient client = JdbcClient.create(server.getPostgresDatabase());
      client.sql("create database " + name + " template model").update();
      DataSource source = pool(server.getDatabase("postgres", name));
      JdbcClient.create(source)
          .sql("update meta set installation = substr(md5(:name || random()::text), 1, 8)")
          .param("name", name)
          .update();
      return source;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The same for a test that gives its address to a service; it keeps no connections. */
  public static PGSimpleDataSource ofAService() {
    return (PGSimpleDataSource) ((HikariDataSource) fresh()).getDataSource();
  }

  /** Connections are kept as in the service, as a new one costs more than what is asked on it. */
  private static DataSource pool(DataSource source) {
    HikariDataSource pool = new HikariDataSource();
    pool.setDataSource(source);
    pool.setMinimumIdle(0);
    pool.setIdleTimeout(Duration.ofSeconds(10).toMillis());
    return pool;
  }
}
