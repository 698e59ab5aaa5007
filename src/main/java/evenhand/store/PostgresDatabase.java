package evenhand.store;

import java.util.function.Supplier;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A database as this package uses it: one statement, many of a kind, and transactions.
 *
 * @param reading sees one moment of the database, and changes nothing
 */
record PostgresDatabase(
    DataSource source,
    JdbcClient sql,
    JdbcTemplate batch,
    TransactionTemplate writing,
    TransactionTemplate reading) {

  static PostgresDatabase of(DataSource source) {
    JdbcTransactionManager transactions = new JdbcTransactionManager(source);
    TransactionTemplate reading = new TransactionTemplate(transactions);
    reading.setReadOnly(true);
    reading.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
    return new PostgresDatabase(
        source,
        JdbcClient.create(source),
        new JdbcTemplate(source),
        new TransactionTemplate(transactions),
        reading);
  }

  /** Reads in one transaction: the one that is open, or one of its own. */
  <T> T read(Supplier<T> what) {
    return TransactionSynchronizationManager.isActualTransactionActive()
        ? what.get()
        : reading.execute(tx -> what.get());
  }
}
