// Words that cannot stand for a column without quotes, in PostgreSQL or in the parser of clauses:
// `user = 1` compares the name of the role. Those that PostgreSQL reserves, those it reserves but
// for functions and types, and those that begin an expression or a type.

export const RESERVED_WORDS: ReadonlySet<string> = new Set(
  `all analyse analyze and any array as asc asymmetric authorization between bigint binary bit
  boolean both case cast char character check coalesce collate collation column concurrently
  constraint create cross current_catalog current_date current_role current_schema current_time
  current_timestamp current_user date dec decimal default deferrable desc distinct do else end
  except exists extract false fetch float for foreign freeze from full grant greatest group
  grouping having ilike in initially inner inout int integer intersect interval into is isnull
  join lateral leading least left like limit localtime localtimestamp natural national nchar
  none normalize not notnull null nullif numeric offset on only or order out outer overlaps
  overlay placing position precision primary real references returning right row select
  session_user setof similar smallint some substring symmetric system_user table tablesample
  then time timestamp to trailing treat trim true union unique user using values varchar
  variadic verbose when where window with`.split(/\s+/),
)
