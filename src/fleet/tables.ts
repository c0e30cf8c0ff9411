// The tables of a fleet, beside those of the queue: nights, their jobs, one result at most for each
// job, what was found, and the histories that are kept. Main constant: SCHEMA.

/** Of the tables; a fleet of another version is refused. */
export const TABLES_VERSION = 1

/** Creates what is not there; several may do it at once, under a lock. */
export const SCHEMA = `
create schema if not exists isobar_fleet;
create table if not exists isobar_fleet.about (
  version int not null
);
insert into isobar_fleet.about select ${TABLES_VERSION}
  where not exists (select from isobar_fleet.about);
create table if not exists isobar_fleet.night (
  id serial primary key,
  token text not null unique,        -- whoever made it may not know whether it was made
  name text not null,
  plan text not null,
  hash text not null,                -- of all that makes its jobs
  settings jsonb not null,
  state text not null check (state in ('filling', 'queued', 'done', 'cancelled')),
  jobs int not null default 0,
  rounds int not null default 0,     -- how often jobs were queued
  isobar text not null,
  begun timestamptz not null default now(),
  ended timestamptz
);
create table if not exists isobar_fleet.job (
  night int not null references isobar_fleet.night,
  number int not null,
  spec jsonb not null,
  primary key (night, number)
);
create table if not exists isobar_fleet.input (
  night int not null,
  number int not null,
  bytes bytea not null,
  primary key (night, number)
);
alter table isobar_fleet.input alter bytes set storage external;
create table if not exists isobar_fleet.result (
  night int not null,
  number int not null,
  outcome text not null check (outcome in ('satisfied', 'violated', 'unknown', 'failed')),
  blame text,
  reason text,
  verdicts jsonb not null,
  measures jsonb,
  elapsed_ms float8 not null,
  worker text not null,
  ended timestamptz not null default now(),
  primary key (night, number),       -- one result, whoever else did the job as well
  foreign key (night, number) references isobar_fleet.job
);
create table if not exists isobar_fleet.occurrence (
  night int not null,
  number int not null,
  level text not null,
  fingerprint text not null,
  anomalies text not null,
  transactions int not null,
  notation text not null,
  verdict jsonb not null,
  primary key (night, number, level),
  foreign key (night, number) references isobar_fleet.result on delete cascade
);
create index if not exists occurrence_of on isobar_fleet.occurrence (fingerprint);
create table if not exists isobar_fleet.kept (
  night int not null,
  number int not null,
  bytes bytea not null,              -- gzip
  primary key (night, number),
  foreign key (night, number) references isobar_fleet.result on delete cascade
);
alter table isobar_fleet.kept alter bytes set storage external;
`

/** Results with what belongs to them, of jobs that have none yet. */
export const INSERT_RESULTS = `
with inserted as (
  insert into isobar_fleet.result
    (night, number, outcome, blame, reason, verdicts, measures, elapsed_ms, worker)
  select $1, number, outcome, blame, reason, verdicts, measures, elapsed_ms, $2
  from jsonb_to_recordset($3::jsonb) as given(number int, outcome text, blame text, reason text,
    verdicts jsonb, measures jsonb, elapsed_ms float8)
  on conflict do nothing
  returning number
), occurrences as (
  insert into isobar_fleet.occurrence
    (night, number, level, fingerprint, anomalies, transactions, notation, verdict)
  select $1, number, level, fingerprint, anomalies, transactions, notation, verdict
  from jsonb_to_recordset($4::jsonb) as given(number int, level text, fingerprint text,
    anomalies text, transactions int, notation text, verdict jsonb)
  join inserted using (number)
), histories as (
  insert into isobar_fleet.kept (night, number, bytes)
  select $1, number, bytes
  from unnest($5::int[], $6::bytea[]) as given(number, bytes)
  join inserted using (number)
)
select count(*)::int as count from inserted
`
