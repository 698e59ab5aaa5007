-- What happened, for whoever wants to be told: read as a list, as a stream, and by webhooks. And which
-- clauses a decision rests on, so that decisions can be searched.

-- A row is written in the transaction that makes true what it tells. Ids are given out while transactions
-- are under way, so a lower one may be seen after a higher one: readers go no further than the id below
-- which no transaction can still write (PostgresEvents).
create table events (
    id         bigint      generated always as identity primary key,
    at         timestamptz not null,
    kind       text        not null check (kind <> ''),
    -- What it is about; each may be null.
    job_id     bigint,
    account_id text,
    node_name  text,
    -- A sentence for people.
    message    text        not null check (message <> ''),
    -- What else there is to say, by kind.
    data       jsonb       not null default '{}'
);
create index events_by_job on events (job_id, id) where job_id is not null;
create index events_by_account on events (account_id, id) where account_id is not null;
create index events_by_time on events (at);
create function events_only_grow() returns trigger language plpgsql as $$
begin
    raise exception 'events only grow: event % cannot be changed', old.id;
end
$$;
create trigger events_append_only before update on events
    for each row execute function events_only_grow();

-- How far each webhook was told. One that is new begins with what happens then.
create table webhook_cursors (
    hook          text        primary key check (hook <> ''),
    last_event    bigint      not null,
    -- Of the event after it: how often it was tried, and what came of the last try.
    tries         integer     not null default 0,
    failing_since timestamptz,
    next_try_at   timestamptz,
    answer        text,
    check ((tries = 0) = (failing_since is null))
);

-- The clauses by which a decision said something new about a job.
create table decision_rules (
    decision_id bigint not null references decisions on delete cascade,
    rule        text   not null,
    job_id      bigint not null,
    primary key (decision_id, rule, job_id)
);
create index decision_rules_by_rule on decision_rules (rule, decision_id);
