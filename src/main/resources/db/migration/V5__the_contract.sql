-- The scheduling contract: work that is told to leave and its grace time (K6), starts that wait for
-- it, checkpoints (K4), nodes that are drained (X1 to X3), and claims (G1 to G4).

alter table attempts
    -- When the grace time of one that was told to leave is over; it is ended then.
    add column end_by        timestamptz,
    -- Attempts, as JOB-ATTEMPT, that have to leave before this one can start, and when its start is
    -- undone should they still be there.
    add column waits_for     text[]      not null default '{}',
    add column waits_until   timestamptz,
    -- The last checkpoint its job reported.
    add column checkpoint_at timestamptz;

alter table outbox drop constraint outbox_kind_check;
alter table outbox add constraint outbox_kind_check
    check (kind in ('yield', 'signal', 'submit', 'cancel'));

-- Nodes that get no new work and lose what they run, by whose wish, and what came of it. A row ends
-- when the node is used again; it is never deleted.
create table node_drains (
    id          bigint      generated always as identity primary key,
    node_name   text        not null check (node_name <> ''),
    source      text        not null check (source in ('evenhand', 'slurm')),
    reason      text        not null check (reason <> ''),
    drained_by  text        not null check (drained_by <> ''),
    since       timestamptz not null,
    -- When nothing ran there any more: it is drained (X3). Null while something does.
    empty_since timestamptz,
    ended_at    timestamptz,
    ended_by    text,
    check ((ended_at is null) = (ended_by is null))
);
create unique index node_drains_open on node_drains (node_name, source) where ended_at is null;
create index node_drains_by_node on node_drains (node_name, id);

-- GPUs that the first job of the queue gathers for its start: one claim at a time. What a claim holds
-- is charged to nobody; the columns of jobs are those of reservations alone.
create table claims (
    id       bigint      generated always as identity primary key,
    job_id   bigint      not null references jobs,
    since    timestamptz not null,
    -- Not later than then it has all of them, by the contracts of those that run there.
    ready_at timestamptz not null,
    -- Jobs that ran there when it was made and that it counts on.
    yields   text[]      not null default '{}',
    ended_at timestamptz,
    -- The clause by which it ended, and why.
    rule     text,
    reason   text,
    check ((ended_at is null) = (rule is null))
);
create unique index claims_one on claims ((true)) where ended_at is null;
create index claims_by_job on claims (job_id, id);

create table claim_gpus (
    claim_id  bigint  not null references claims,
    position  integer not null,
    node_name text    not null,
    tier_id   uuid    not null references gpu_tiers,
    gpus      integer not null check (gpus > 0),
    primary key (claim_id, position)
);
