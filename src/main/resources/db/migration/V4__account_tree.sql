-- The account tree as people set it, who changed it and when; and usage and demand by the hour, so that
-- the sum over a window never reads more than the window's hours.

-- Once a tree was applied, the settings of the service add accounts that are new and change no other.
alter table meta add column tree_applied_at timestamptz;

-- An account that was taken out of the tree: kept with all its history, without budget, closed to new jobs.
alter table accounts
    add column retired_at timestamptz,
    add constraint accounts_retired_have_no_weight check (retired_at is null or weight = 0);

-- Who may set the weights of the accounts below this one, and below those (A2).
create table account_owners (
    account_id text not null references accounts,
    user_name  text not null check (user_name <> ''),
    primary key (account_id, user_name)
);
-- Whose jobs are charged to this account where they name none: one account for each person.
create table account_users (
    user_name  text primary key check (user_name <> ''),
    account_id text not null references accounts
);
create index account_users_by_account on account_users (account_id);

-- Every change of the tree. What it was and became is a number for added, weight, retired and restored,
-- the account above for moved (null at the top), names with commas between for owners and users.
create table account_changes (
    id         bigint      generated always as identity primary key,
    at         timestamptz not null,
    account_id text        not null references accounts,
    kind       text        not null check (kind in ('added', 'weight', 'moved', 'retired', 'restored',
                                                    'owners', 'users')),
    was        text,
    became     text,
    -- The account above it when it was changed, null at the top.
    parent     text        references accounts,
    made_by    text        not null check (made_by <> ''),
    reason     text        not null check (reason <> '')
);
create index account_changes_by_account on account_changes (account_id, id);
create index account_changes_by_parent on account_changes (parent, id);
create trigger account_changes_append_only before update or delete on account_changes
    for each row execute function is_append_only();
insert into account_changes (at, account_id, kind, became, parent, made_by, reason)
select created_at, id, 'added', weight::text, parent, 'evenhand', 'was there before changes were kept'
from accounts order by created_at, id;

-- ---- by the hour ------------------------------------------------------------------------------------

-- GPUs x microseconds, exactly.
create function gpu_micros(gpus integer, from_at timestamptz, to_at timestamptz) returns bigint
    language sql immutable
    return gpus * (extract(epoch from to_at - from_at) * 1000000)::bigint;

-- The hours, each by its beginning, that a stretch touches.
create function hours_of(from_at timestamptz, to_at timestamptz) returns setof timestamptz
    language sql stable
    begin atomic
        select hour
        from generate_series(date_trunc('hour', from_at, 'UTC'), to_at, interval '1 hour') hour
        where hour < to_at;
    end;

-- What a TFLOP-second of a row costs; rows older than the column have it from their cost.
create function row_price(tflops double precision, tflop_s numeric, gpu_s numeric)
    returns double precision
    language sql immutable
    return coalesce(tflops, (tflop_s / nullif(gpu_s, 0))::double precision, 0);

-- Charged run time (A3) by the hour in which it was run and by the price of its tier. Written when a
-- row of the ledger is charged, in the same transaction, so that it is always the sum of those rows.
create table usage_hours (
    hour       timestamptz      not null,
    account_id text             not null references accounts,
    tflops     double precision not null,
    gpu_us     bigint           not null,
    primary key (hour, account_id, tflops)
);

create function note_usage() returns trigger language plpgsql as $$
begin
    insert into usage_hours as u (hour, account_id, tflops, gpu_us)
    select hour, new.account_id, row_price(new.tflops, new.tflop_s, new.gpu_s),
           gpu_micros(new.gpus, greatest(new.from_at, hour), least(new.to_at, hour + interval '1 hour'))
    from hours_of(new.from_at, new.to_at) hour
    on conflict (hour, account_id, tflops) do update set gpu_us = u.gpu_us + excluded.gpu_us;
    return null;
end
$$;
create trigger ledger_usage_charged after update on ledger
    for each row when (old.charge_id is null and new.charge_id is not null and new.kind = 'run')
    execute function note_usage();
create trigger ledger_usage_written after insert on ledger
    for each row when (new.charge_id is not null and new.kind = 'run')
    execute function note_usage();
insert into usage_hours (hour, account_id, tflops, gpu_us)
select hour, l.account_id, row_price(l.tflops, l.tflop_s, l.gpu_s),
       sum(gpu_micros(l.gpus, greatest(l.from_at, hour), least(l.to_at, hour + interval '1 hour')))
from ledger l, hours_of(l.from_at, l.to_at) hour
where l.kind = 'run' and l.charge_id is not null
group by 1, 2, 3;

-- The hour at the far edge of a window is cut from the rows that touch it.
drop index ledger_runs_by_end;
create index ledger_runs_by_time on ledger using gist (tstzrange(from_at, to_at)) where kind = 'run';

-- What jobs that are over had asked for, from submission to end, waiting or running (A5): those that
-- declared a minimum run time, for no budget pays for others (N5).
create table demand_hours (
    hour       timestamptz not null,
    account_id text        not null references accounts,
    gpu_us     bigint      not null,
    primary key (hour, account_id)
);

create function note_demand() returns trigger language plpgsql as $$
begin
    insert into demand_hours as d (hour, account_id, gpu_us)
    select hour, new.account_id,
           gpu_micros(new.nodes * new.num_gpus, greatest(new.submitted_at, hour),
                      least(new.ended_at, hour + interval '1 hour'))
    from hours_of(new.submitted_at, new.ended_at) hour
    on conflict (hour, account_id) do update set gpu_us = d.gpu_us + excluded.gpu_us;
    return null;
end
$$;
create trigger jobs_demand after update on jobs
    for each row when (old.ended_at is null and new.ended_at is not null and new.min_runtime_s > 0)
    execute function note_demand();
insert into demand_hours (hour, account_id, gpu_us)
select hour, j.account_id,
       sum(gpu_micros(j.nodes * j.num_gpus, greatest(j.submitted_at, hour),
                      least(j.ended_at, hour + interval '1 hour')))
from jobs j, hours_of(j.submitted_at, j.ended_at) hour
where j.ended_at is not null and j.min_runtime_s > 0
group by 1, 2;
create index placement_spans_by_end on placement_spans (to_at);
