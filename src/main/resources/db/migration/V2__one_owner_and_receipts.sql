-- Every GPU-second of every placement gets one owner, and every decision can be made again from what is
-- stored. Rows written before this migration keep their meaning; what is not known of them stays null.

-- ---- the ledger -------------------------------------------------------------------------------------

alter table ledger
    -- The price that was used: a tier's may change later. Null in rows older than this column whose
    -- cost is not that of their tier's price of today.
    add column tflops double precision check (tflops >= 0),
    add column gpu_s  numeric generated always as (gpus * extract(epoch from (to_at - from_at))) stored;
alter table ledger disable trigger ledger_append_only;
update ledger l
set tflops = t.tflops
from gpu_tiers t
where t.id = l.tier_id and abs(l.tflop_s - l.gpu_s * t.tflops::numeric) <= 1e-9 * (1 + l.tflop_s);
alter table ledger enable trigger ledger_append_only;

-- 'unallocated': run time that is charged to nobody (N5).
alter table ledger drop constraint ledger_kind_check;
alter table ledger add constraint ledger_kind_check check (kind in ('reserved', 'run', 'unallocated'));
alter table ledger add constraint ledger_unallocated_is_free
    check (kind <> 'unallocated' or charge_id is null);

drop index ledger_uncharged;
create index ledger_uncharged on ledger (job_id) where charge_id is null and kind <> 'unallocated';
create index ledger_by_charge on ledger (charge_id) where charge_id is not null;
create index ledger_by_placement on ledger (node_name, tier_id, from_at, id);

-- gpu_s is worked out after this trigger has run, from columns that it does compare.
create or replace function ledger_is_append_only() returns trigger language plpgsql as $$
begin
    if tg_op = 'UPDATE' and old.charge_id is null and new.charge_id is not null
       and (to_jsonb(old) - 'charge_id' - 'gpu_s') = (to_jsonb(new) - 'charge_id' - 'gpu_s') then
        return new;
    end if;
    raise exception 'the ledger is append-only: row % cannot be changed', old.id;
end
$$;

create function is_append_only() returns trigger language plpgsql as $$
begin
    raise exception '% is append-only: row % cannot be changed', tg_table_name, old.id;
end
$$;
create trigger charges_append_only before update or delete on charges
    for each row execute function is_append_only();

-- What moved an account's usage beside its charges. Append-only; a wrong one is put right by another.
create table corrections (
    id         bigint      generated always as identity primary key,
    at         timestamptz not null,
    kind       text        not null check (kind in ('opening', 'correction')),
    account_id text        not null references accounts,
    -- May be negative.
    tflop_s    numeric     not null,
    reason     text        not null check (reason <> ''),
    made_by    text        not null check (made_by <> ''),
    -- The client's idempotency key, or null.
    key        text        unique
);
create index corrections_by_account on corrections (account_id, id);
create trigger corrections_append_only before update or delete on corrections
    for each row execute function is_append_only();

-- What an account had used before there was a row for everything.
insert into corrections (at, kind, account_id, tflop_s, reason, made_by)
select now(), 'opening', a.id, a.cumulative_usage::numeric - coalesce(c.tflop_s, 0),
       'opening balance: its usage before the ledger had a row for everything', 'evenhand'
from accounts a
left join (select account_id, sum(tflop_s) as tflop_s from charges group by account_id) c
       on c.account_id = a.id
where abs(a.cumulative_usage::numeric - coalesce(c.tflop_s, 0)) > 1e-6;

-- What a placement was from when to when: the ground on which held time is counted. A row is written
-- when a reading shows another capacity, state, or number of GPUs in use by jobs that are not ours, in
-- the transaction that notes the reading. The rows of a placement follow each other without a gap
-- while its tier is configured; a clock that stepped back makes a row of 0 s.
create table placement_spans (
    id        bigint      generated always as identity primary key,
    node_name text        not null,
    tier_id   uuid        not null references gpu_tiers,
    capacity  integer     not null check (capacity > 0),
    state     text        not null check (state in ('up', 'draining', 'down')),
    -- As the reading shows them: sampled, never charged.
    outside   integer     not null check (outside >= 0),
    from_at   timestamptz not null,
    to_at     timestamptz check (to_at >= from_at)
);
create unique index placement_spans_open on placement_spans (node_name, tier_id) where to_at is null;
create index placement_spans_by_placement on placement_spans (node_name, tier_id, from_at, id);

create function spans_are_only_closed() returns trigger language plpgsql as $$
begin
    if tg_op = 'UPDATE' and old.to_at is null and new.to_at is not null
       and (to_jsonb(old) - 'to_at') = (to_jsonb(new) - 'to_at') then
        return new;
    end if;
    raise exception 'placement_spans is append-only: row % cannot be changed', old.id;
end
$$;
create trigger placement_spans_only_closed before update or delete on placement_spans
    for each row execute function spans_are_only_closed();

-- Each time the clock of the deciding host was found to have stepped back: the time between happened
-- twice, and may be held twice.
create table clock_steps (
    id      bigint      generated always as identity primary key,
    from_at timestamptz not null,
    to_at   timestamptz not null check (to_at < from_at)
);
create table last_reading (
    one boolean     primary key default true check (one),
    at  timestamptz not null
);

-- ---- receipts ---------------------------------------------------------------------------------------

-- All that a policy was when it decided: its YAML, its rule files in their order, and what was set for
-- it with --set; policy_hash is over these. Kept as long as a decision of that hash.
create table policy_texts (
    policy_hash text        not null,
    position    integer     not null,
    name        text        not null,
    text        text        not null,
    written_at  timestamptz not null,
    primary key (policy_hash, position),
    unique (policy_hash, name)
);

-- A decision and its snapshot are mostly what the ones before were. They are kept packed, as what
-- differs from a base, which is kept whole; rows older than this have them as plain text.
alter table decisions
    alter column decision drop not null,
    alter column snapshot drop not null,
    add column base_id         bigint references decisions,
    add column decision_packed bytea,
    add column snapshot_packed bytea,
    add constraint decisions_have_a_text check ((decision is null) = (decision_packed is not null)
                                                and (snapshot is null) = (snapshot_packed is not null)),
    alter column decision_packed set storage external,
    alter column snapshot_packed set storage external;
create index decisions_by_base on decisions (base_id) where base_id is not null;
create index decisions_by_policy on decisions (policy_hash);
