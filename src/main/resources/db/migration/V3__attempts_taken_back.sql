-- Why an attempt is taken back from the cluster before it ran: its GPUs are somebody else's, or the
-- cluster will never start it.
alter table attempts add column recalled text;
