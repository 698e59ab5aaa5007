-- What evenhand remembers. Times are timestamptz (UTC, microseconds), money is TFLOP-seconds:
-- GPUs x seconds x TFLOPS of the tier. Clauses in brackets are those of the policy.

-- One row about this database itself.
create table meta (
    one          boolean primary key default true check (one),
    -- Part of every token given to Slurm, so that two services, or a database made anew, never take
    -- each other's jobs for their own.
    installation text    not null check (installation ~ '^[0-9a-z]{1,16}$'),
    -- Goes up each time a process takes the right to decide; one that lost it is told apart by it.
    leader_epoch bigint  not null default 0
);
insert into meta (installation) values (substr(replace(gen_random_uuid()::text, '-', ''), 1, 8));

-- The tree of accounts. A lab is one without children.
create table accounts (
    id               text             primary key check (id <> ''),
    parent           text             references accounts check (parent <> id),
    weight           double precision not null default 1 check (weight >= 0),
    -- All it was ever charged (Q2). Always the sum of its charges, and of what was entered by hand.
    cumulative_usage double precision not null default 0,
    created_at       timestamptz      not null
);

-- GPU models, as the settings name them. One that is no longer named stays: old rows refer to it.
create table gpu_tiers (
    id          uuid             primary key default gen_random_uuid(),
    name        text             not null unique check (name <> ''),
    sort_order  integer          not null,
    tflops      double precision not null check (tflops >= 0),
    max_gpus    integer          not null check (max_gpus > 0),
    auto_assign boolean          not null,
    partition   text,
    gres        text,
    -- False once the settings name it no more: then neither it nor its GPUs are used.
    configured  boolean          not null default true
);

-- One row per GPU that was ever seen.
create table gpu_resources (
    id         bigint      generated always as identity primary key,
    node_name  text        not null,
    tier_id    uuid        not null references gpu_tiers,
    gpu_index  integer     not null check (gpu_index >= 0),
    -- Of its node: up, draining (no new work), down.
    state      text        not null check (state in ('up', 'draining', 'down')),
    reason     text,
    -- To the minute: it is not worth a write in every cycle.
    last_seen  timestamptz not null,
    -- Set when the cluster shows fewer GPUs on its node than there were.
    retired_at timestamptz,
    unique (node_name, tier_id, gpu_index)
);

-- A placement is all GPUs of one tier on one node; it is derived, never a table.
create view placements as
select node_name,
       tier_id,
       count(*)::integer as capacity,
       min(state)        as state,
       min(reason)       as reason
from gpu_resources
where retired_at is null
group by node_name, tier_id;

create table jobs (
    id                          bigint           generated always as identity primary key,
    name                        text             not null,
    account_id                  text             not null references accounts,
    user_name                   text             not null,
    nodes                       integer          not null check (nodes > 0),
    num_gpus                    integer          not null check (num_gpus > 0),
    tier                        text             references gpu_tiers (name),
    -- Raised when it ran out of memory (S10).
    minimum_tier_sort_order     integer          not null default 0,
    priority                    integer          not null default 0,
    min_runtime_s               bigint           not null default 0 check (min_runtime_s >= 0),
    resumable                   boolean          not null,
    time_limit_s                bigint,
    state                       text             not null,
    state_reason                text,
    attempt                     integer          not null default 1,
    node_failures               integer          not null default 0,
    submitted_at                timestamptz      not null,
    -- Kept when the system queues the job again.
    queue_entered_at            timestamptz      not null,
    started_at                  timestamptz,
    ended_at                    timestamptz,
    exit_code                   integer,

    -- The reservation: these five columns and no more (N4.6, C1). One job has at most one (R1).
    reserved_gpus               integer          not null default 0,
    reserved_node_name          text,
    reserved_tier_id            uuid             references gpu_tiers,
    reservation_last_accrued_at timestamptz,
    -- TFLOP-seconds, in spite of its name: what reservations have cost and nobody was charged yet.
    reservation_gpu_seconds     double precision not null default 0,

    -- Goes up with each change; a change worked out from an older one is refused.
    version                     bigint           not null default 0,

    check (reserved_gpus >= 0),
    check ((reserved_gpus > 0) = (reserved_node_name is not null)),
    check ((reserved_gpus > 0) = (reserved_tier_id is not null)),
    check ((reserved_gpus > 0) = (reservation_last_accrued_at is not null)),
    -- Only a queued job holds a reservation (R4).
    check (reserved_gpus = 0 or state = 'GLOBAL_QUEUE_WAIT')
);
create index jobs_reserving on jobs (reserved_node_name, reserved_tier_id) where reserved_gpus > 0;
-- What a cycle reads.
create index jobs_not_ended on jobs (id)
    where state in ('GLOBAL_QUEUE_WAIT', 'DISPATCHING', 'RUNNING');
create index jobs_by_account on jobs (account_id, id);
create index jobs_by_state on jobs (state, id);

-- What is only needed to submit a job: a cycle never reads it for the whole queue.
create table job_scripts (
    job_id      bigint primary key references jobs,
    script      text   not null,
    arguments   text[] not null,
    environment jsonb  not null,
    workdir     text
);

-- When each reservation began and ended.
create table reservation_spans (
    id        bigint      generated always as identity primary key,
    job_id    bigint      not null references jobs,
    node_name text        not null,
    tier_id   uuid        not null references gpu_tiers,
    since     timestamptz not null,
    ended_at  timestamptz
);
create unique index reservation_spans_open on reservation_spans (job_id) where ended_at is null;

-- Each attempt of a job to run, from the decision that started it. Its token in Slurm is
-- evenhand-INSTALLATION-JOB-ATTEMPT.
create table attempts (
    job_id       bigint      not null references jobs,
    attempt      integer     not null check (attempt > 0),
    state        text        not null,
    decided_at   timestamptz not null,
    cluster_job  text,
    started_at   timestamptz,
    ended_at     timestamptz,
    last_seen_at timestamptz,
    restarts     integer     not null default 0,
    allocated    boolean     not null default true,
    cancel_by    text,
    preempt_for  text,
    primary key (job_id, attempt)
);
create index attempts_open on attempts (job_id, attempt) where ended_at is null;

create table attempt_gpus (
    job_id    bigint  not null,
    attempt   integer not null,
    position  integer not null,
    node_name text    not null,
    tier_id   uuid    not null references gpu_tiers,
    gpus      integer not null check (gpus > 0),
    primary key (job_id, attempt, position),
    foreign key (job_id, attempt) references attempts
);

-- What an account was charged: one row for each charge of a settlement or a forced release.
create table charges (
    id         bigint      generated always as identity primary key,
    at         timestamptz not null,
    account_id text        not null references accounts,
    job_id     bigint      not null references jobs,
    attempt    integer     not null,
    tflop_s    numeric     not null check (tflop_s >= 0),
    rule       text        not null
);
create index charges_by_job on charges (job_id);

-- Every stretch that GPUs were held, reserved or run (C6). Append-only: a row is never changed but
-- once, when it is charged, and never deleted.
create table ledger (
    id         bigint      generated always as identity primary key,
    kind       text        not null check (kind in ('reserved', 'run')),
    job_id     bigint      not null references jobs,
    attempt    integer     not null,
    account_id text        not null references accounts,
    node_name  text        not null,
    tier_id    uuid        not null references gpu_tiers,
    -- Held during the stretch, not after it (C1).
    gpus       integer     not null check (gpus > 0),
    from_at    timestamptz not null,
    to_at      timestamptz not null check (to_at >= from_at),
    tflop_s    numeric     not null check (tflop_s >= 0),
    charge_id  bigint      references charges
);
create index ledger_uncharged on ledger (job_id) where charge_id is null;
create index ledger_by_job on ledger (job_id, id);
create index ledger_by_account on ledger (account_id, id);
-- For the sum over a window (A3).
create index ledger_runs_by_end on ledger (to_at) where kind = 'run';

create function ledger_is_append_only() returns trigger language plpgsql as $$
begin
    if tg_op = 'UPDATE' and old.charge_id is null and new.charge_id is not null
       and (to_jsonb(old) - 'charge_id') = (to_jsonb(new) - 'charge_id') then
        return new;
    end if;
    raise exception 'the ledger is append-only: row % cannot be changed', old.id;
end
$$;
create trigger ledger_append_only before update or delete on ledger
    for each row execute function ledger_is_append_only();

-- Orders to the outside, written with the decision that made them and carried out after.
create table outbox (
    id          bigint      generated always as identity primary key,
    kind        text        not null check (kind in ('yield', 'submit', 'cancel')),
    job_id      bigint      not null references jobs,
    attempt     integer     not null,
    -- What a yield tells the router.
    node_name   text,
    tier        text,
    gpus        integer     not null default 0,
    created_at  timestamptz not null,
    -- Counted up before each try.
    tries       integer     not null default 0,
    -- May have been carried out already: to be looked up before it is done again.
    in_doubt    boolean     not null default false,
    next_try_at timestamptz not null,
    tried_at    timestamptz,
    answer      text,
    closed_at   timestamptz
);
create index outbox_open on outbox (next_try_at, id) where closed_at is null;
-- Never two orders to submit one attempt.
create unique index outbox_one_submission on outbox (job_id, attempt) where kind = 'submit';
create index outbox_by_job on outbox (job_id);

-- Decisions and what they were made on, as text, exactly as they were written.
create table decisions (
    id            bigint      generated always as identity primary key,
    decided_at    timestamptz not null,
    policy        text        not null,
    policy_hash   text        not null,
    snapshot_hash text        not null,
    decision      text        not null,
    snapshot      text        not null
);
create index decisions_by_time on decisions (decided_at);

-- The jobs a decision had something new to say about.
create table decision_jobs (
    job_id      bigint not null,
    decision_id bigint not null references decisions on delete cascade,
    primary key (job_id, decision_id)
);
create index decision_jobs_by_decision on decision_jobs (decision_id);

-- Submissions that carried an idempotency key.
create table idempotency_keys (
    account_id text        not null references accounts,
    key        text        not null,
    digest     text        not null,
    job_id     bigint      references jobs,
    created_at timestamptz not null,
    primary key (account_id, key)
);
