-- Who may do what: tokens by the digest of their text, and the record of every change.

create table access_tokens (
    id           bigint      generated always as identity primary key,
    name         text        not null check (name <> ''),
    -- The first part of its text, by which it is found; no secret.
    prefix       text        not null unique,
    -- SHA-256 of its whole text, which is kept nowhere.
    digest       bytea       not null check (octet_length(digest) = 32),
    user_name    text        not null check (user_name <> ''),
    roles        text[]      not null check (cardinality(roles) > 0),
    accounts     text[]      not null default '{}',
    created_at   timestamptz not null,
    created_by   text        not null check (created_by <> ''),
    -- Null for never.
    expires_at   timestamptz,
    revoked_at   timestamptz,
    revoked_by   text,
    -- To the minute.
    last_used_at timestamptz,
    check ((revoked_at is null) = (revoked_by is null))
);
create unique index access_tokens_one_of_a_name on access_tokens (name) where revoked_at is null;

-- Every change that was asked for, written before it is made; then, once, how it came out.
create table audit (
    id        bigint      generated always as identity primary key,
    at        timestamptz not null,
    who       text        not null check (who <> ''),
    user_name text,
    token     text,
    address   text        not null,
    method    text        not null,
    path      text        not null,
    -- What was sent with it, without what is private or secret.
    body      text,
    ended_at  timestamptz,
    status    integer,
    check ((ended_at is null) = (status is null))
);
create index audit_by_user on audit (user_name, id);

create function audit_is_append_only() returns trigger language plpgsql as $$
begin
    if tg_op = 'UPDATE' and old.status is null and new.status is not null
       and (to_jsonb(old) - 'status' - 'ended_at') = (to_jsonb(new) - 'status' - 'ended_at') then
        return new;
    end if;
    raise exception 'the audit is append-only: what is in it cannot be changed';
end
$$;
create trigger audit_append_only before update or delete on audit
    for each row execute function audit_is_append_only();
create trigger audit_not_emptied before truncate on audit
    for each statement execute function audit_is_append_only();
