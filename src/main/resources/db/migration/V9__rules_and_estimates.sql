-- How often each rule decided, so that what rules do can be counted without unpacking decisions.
-- Written with the decision, in its transaction.
create table rule_counts (
    -- Counted by the clock hour in which they were decided.
    hour        timestamptz not null,
    -- Empty for what the end of a job brought, which no decision holds.
    policy_hash text        not null,
    clause      text        not null,
    -- The whole name where a clause has several rules; empty where the clause names its one rule.
    rule        text        not null default '',
    outcomes    bigint      not null check (outcomes > 0),
    primary key (hour, policy_hash, clause, rule)
);

-- What was told about when a job would start, and what came of it.
create table start_estimates (
    id         bigint      generated always as identity primary key,
    job_id     bigint      not null references jobs,
    made_at    timestamptz not null,
    -- Null where it had not started within the time simulated.
    p50        timestamptz,
    p90        timestamptz,
    -- When it was given its GPUs. Null while it waits, and when it ended without.
    started_at timestamptz
);
create index start_estimates_open on start_estimates (job_id) where started_at is null;
create index start_estimates_by_time on start_estimates (made_at);
