-- Which policy is in force, how it came to that, what was planned, and what decides beside it. Their texts
-- stand in policy_texts, like those of policies that have decided.

-- The one row that every process follows, between two of its cycles.
create table policy_in_force (
    one      boolean     primary key default true check (one),
    policy   text        not null,
    hash     text        not null,
    since    timestamptz not null,
    made_by  text        not null check (made_by <> ''),
    reason   text        not null check (reason <> ''),
    -- The policy's name that the settings gave when somebody last made them give another: a start with the
    -- same name changes nothing.
    setting  text        not null
);

-- How the policy in force came to be it. Nothing here is changed or deleted.
create table policy_history (
    id        bigint      generated always as identity primary key,
    at        timestamptz not null,
    kind      text        not null check (kind in ('first', 'applied', 'rolled_back', 'fell_back')),
    policy    text        not null,
    hash      text        not null,
    from_hash text        check ((from_hash is null) = (kind = 'first')),
    made_by   text        not null check (made_by <> ''),
    reason    text        not null check (reason <> '')
);
create function policy_history_is_append_only() returns trigger language plpgsql as $$
begin
    raise exception 'the history of the policy is append-only: entry % cannot be changed', old.id;
end
$$;
create trigger policy_history_append_only before update or delete on policy_history
    for each row execute function policy_history_is_append_only();

-- Policies that have decided a cycle without failing, and the first time that each did.
create table policies_proven (
    hash text        primary key,
    at   timestamptz not null
);

-- Policies that a rule failed of while they decided.
create table policy_failures (
    id      bigint      generated always as identity primary key,
    hash    text        not null,
    at      timestamptz not null,
    message text        not null
);
create index policy_failures_by_hash on policy_failures (hash, id);

-- What a change would do, worked out before it is made.
create sequence policy_plan_ids;
create table policy_plans (
    id      bigint      primary key,
    at      timestamptz not null,
    made_by text        not null check (made_by <> ''),
    policy  text        not null,
    hash    text        not null,
    against text        not null,
    passes  boolean     not null,
    report  text        not null
);
create index policy_plans_by_hash on policy_plans (hash, id);

-- A policy that decides beside the one in force, to compare.
create table policy_shadow (
    one     boolean     primary key default true check (one),
    policy  text        not null,
    hash    text        not null,
    since   timestamptz not null,
    made_by text        not null check (made_by <> '')
);
create table shadow_differences (
    id          bigint      generated always as identity primary key,
    at          timestamptz not null,
    decision_id bigint      not null,
    hash        text        not null,
    against     text        not null,
    report      text        not null
);

-- Texts of these are kept whether or not they have decided lately.
create view policies_kept as
    select hash from policy_in_force
    union select hash from policy_history
    union select hash from policy_plans
    union select hash from policy_shadow;
