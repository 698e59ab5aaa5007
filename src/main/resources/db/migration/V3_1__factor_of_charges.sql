-- What a charge was taken times (C5), so that the ledger adds up also under a policy that charges
-- less, or more, than what is held.
alter table charges add column factor numeric not null default 1 check (factor >= 0);
