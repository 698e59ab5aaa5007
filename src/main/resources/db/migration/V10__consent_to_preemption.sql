-- Whether a job consents to make room for work of a higher class; only policies that order by classes
-- of priority ask (PR3). Jobs from before consented, for nobody could refuse.
alter table jobs add column preemptible boolean not null default true;
