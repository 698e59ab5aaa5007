package evenhand.store;

import static evenhand.store.Rows.instant;
import static evenhand.store.Rows.time;

import evenhand.access.AccessToken;
import evenhand.access.AuditBook;
import evenhand.access.AuditEntry;
import evenhand.access.Role;
import evenhand.access.TokenBook;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import javax.sql.DataSource;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Tokens and the audit in PostgreSQL. Each method is one statement, and so one transaction. */
public final class PostgresAccess implements TokenBook, AuditBook {
  private static final String TOKEN =
      """
      select id, name, prefix, digest, user_name, roles, accounts, created_at, created_by,
             expires_at, revoked_at, revoked_by, last_used_at
      from access_tokens
      """;

  private final JdbcClient sql;

  /**
   * @param source a database that the migrations have been applied to
   */
  public PostgresAccess(DataSource source) {
    this.sql = JdbcClient.create(source);
  }

  @Override
  public Optional<AccessToken> add(AccessToken token, byte[] digest) {
    try {
      return sql.sql(
              """
              insert into access_tokens (name, prefix, digest, user_name, roles, accounts,
                                         created_at, created_by, expires_at)
              values (?, ?, ?, ?, ?, ?, ?, ?, ?)
              returning id, name, prefix, digest, user_name, roles, accounts, created_at,
                        created_by, expires_at, revoked_at, revoked_by, last_used_at
              """)
          .param(token.name())
          .param(token.prefix())
          .param(digest)
          .param(token.user())
          .param(token.roles().stream().sorted().map(Role::word).toArray(String[]::new))
          .param(token.accounts().toArray(String[]::new))
          .param(time(token.createdAt()))
          .param(token.createdBy())
          .param(time(token.expiresAt()))
          .query((rs, n) -> token(rs))
          .optional();
    } catch (DuplicateKeyException e) {
      return Optional.empty();
    }
  }

  @Override
  public Optional<Kept> find(String prefix) {
    return sql.sql(TOKEN + "where prefix = ?")
        .param(prefix)
        .query((rs, n) -> new Kept(token(rs), rs.getBytes("digest")))
        .optional();
  }

  @Override
  public List<AccessToken> all(String user, int limit, long before) {
    return sql.sql(
            TOKEN
                + "where id < :before and (:user::text is null or user_name = :user)"
                + " order by id desc limit :limit")
        .param("before", before)
        .param("user", user)
        .param("limit", limit)
        .query((rs, n) -> token(rs))
        .list();
  }

  @Override
  public Optional<AccessToken> revoke(String name, String by, Instant at) {
    return sql.sql(
            """
            update access_tokens set revoked_at = ?, revoked_by = ?
            where name = ? and revoked_at is null
            returning id, name, prefix, digest, user_name, roles, accounts, created_at,
                      created_by, expires_at, revoked_at, revoked_by, last_used_at
            """)
        .param(time(at))
        .param(by)
        .param(name)
        .query((rs, n) -> token(rs))
        .optional();
  }

  @Override
  public void used(long id, Instant at) {
    int rows =
        sql.sql("update access_tokens set last_used_at = ? where id = ?")
            .param(time(at))
            .param(id)
            .update();
    if (rows != 1) {
      throw new IllegalStateException("token " + id + " is gone");
    }
  }

  @Override
  public boolean hasAdmin(Instant now) {
    return sql.sql(
            """
            select exists (select from access_tokens
                           where 'admin' = any (roles) and revoked_at is null
                             and (expires_at is null or expires_at > ?))
            """)
        .param(time(now))
        .query(Boolean.class)
        .single();
  }

  private static AccessToken token(ResultSet rs) throws SQLException {
    Set<Role> roles = EnumSet.noneOf(Role.class);
    for (String word : texts(rs, "roles")) {
      // A role that a later version has made lets nobody in here.
      Role.of(word).ifPresent(roles::add);
    }
    return new AccessToken(
        rs.getLong("id"),
        rs.getString("name"),
        rs.getString("prefix"),
        rs.getString("user_name"),
        roles,
        texts(rs, "accounts"),
        instant(rs, "created_at"),
        rs.getString("created_by"),
        instant(rs, "expires_at"),
        instant(rs, "revoked_at"),
        rs.getString("revoked_by"),
        instant(rs, "last_used_at"));
  }

  private static List<String> texts(ResultSet rs, String column) throws SQLException {
    Array array = rs.getArray(column);
    return Arrays.asList((String[]) array.getArray());
  }

  @Override
  public long begun(AuditEntry entry) {
    return sql.sql(
            """
            insert into audit (at, who, user_name, token, address, method, path, body, ended_at,
                               status)
            values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            returning id
            """)
        .param(time(entry.at()))
        .param(entry.who())
        .param(entry.user())
        .param(entry.token())
        .param(entry.address())
        .param(entry.method())
        .param(entry.path())
        .param(entry.body())
        .param(time(entry.endedAt()))
        .param(entry.status())
        .query(Long.class)
        .single();
  }

  @Override
  public void ended(long id, int status, Instant at) {
    int rows =
        sql.sql("update audit set status = ?, ended_at = ? where id = ? and status is null")
            .param(status)
            .param(time(at))
            .param(id)
            .update();
    if (rows != 1) {
      throw new IllegalStateException("entry " + id + " of the audit is not open");
    }
  }

  @Override
  public List<AuditEntry> entries(Filter filter, int limit, long before) {
    return sql.sql(
            """
            select id, at, who, user_name, token, address, method, path, body, ended_at, status
            from audit
            where id < :before
              and (cast(:user as text) is null or user_name = :user)
              and (cast(:path as text) is null or starts_with(path, :path))
              and (cast(:from as timestamptz) is null or at >= :from)
              and (cast(:to as timestamptz) is null or at < :to)
              and case cast(:outcome as text)
                    when 'done' then status < 400
                    when 'refused' then status between 400 and 499
                    when 'failed' then status >= 500
                    when 'unknown' then status is null
                    else true
                  end
            order by id desc
            limit :limit
            """)
        .param("before", before)
        .param("user", filter.user())
        .param("path", filter.path())
        .param("from", time(filter.from()))
        .param("to", time(filter.to()))
        .param("outcome", filter.outcome())
        .param("limit", limit)
        .query(
            (rs, n) ->
                new AuditEntry(
                    rs.getLong("id"),
                    instant(rs, "at"),
                    rs.getString("who"),
                    rs.getString("user_name"),
                    rs.getString("token"),
                    rs.getString("address"),
                    rs.getString("method"),
                    rs.getString("path"),
                    rs.getString("body"),
                    instant(rs, "ended_at"),
                    rs.getObject("status", Integer.class)))
        .list();
  }

  /** How many jobs of a user wait in the queue. */
  public int waiting(String user) {
    return sql.sql("select count(*) from jobs where state = 'GLOBAL_QUEUE_WAIT' and user_name = ?")
        .param(user)
        .query(Integer.class)
        .single();
  }
}
