// The library: re-exports, nothing else.

/**
 * Reads, judges, explains and makes histories. It runs in a browser too; only files
 * and databases need Node.
 *
 * @example
 * import { check, render } from 'isobar'
 *
 * const result = await check('s1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)', 'si')
 * const story = await render.text(result)
 *
 * @packageDocumentation
 */

export type { Stage } from './base/deadline.ts'
export {
  BudgetExceeded,
  type HintedError,
  InputError,
  InternalError,
  type Place,
  UsageError,
} from './base/errors.ts'
export type { Algorithm } from './check/general/strong-levels.ts'
export type { CheckOptions as JudgeOptions } from './check/options.ts'
export { FORMATS, type Format } from './formats/formats.ts'
export type { FormatId, FormatReader } from './formats/readers.ts'
export type { Sink } from './formats/sink.ts'
export type { Input } from './formats/source.ts'
export type { FormatWriter } from './formats/writers.ts'
export type {
  AfterEdges,
  Annotation,
  History,
  Omissions,
  Places,
  PossibleWriters,
  StatusName,
  Sums,
  TimeScope,
  TimeUnit,
  Versions,
} from './history/history.ts'
export type { LightOps } from './history/light.ts'
export type { TxnOptions } from './history/render-notation.ts'
export type { RowSets } from './history/rows.ts'
export type { HistoryShape, ShapeName, Spread } from './history/shape.ts'
export type { SpanOps } from './history/spans.ts'
export type { SqlEvents, SqlPredicate, SqlTable, StatementName } from './history/sql-events.ts'
export type { Symbol64, SymbolTable } from './history/symbols.ts'
export type { Value, ValueTable } from './history/values.ts'
export type { Source } from './history/writers.ts'
export type { AnomalyKind, AnomalyName } from './levels/anomalies.ts'
export type { DatabaseWord } from './levels/databases.ts'
export type { JepsenName } from './levels/jepsen.ts'
export {
  CHAIN,
  implies,
  LEVELS,
  type Level,
  type LevelId,
  type LevelRequest,
} from './levels/levels.ts'
export type { LevelWord } from './levels/words.ts'
export { ANOMALIES } from './library/anomalies.ts'
export type { CheckOptions } from './library/arguments.ts'
export { certify } from './library/certify.ts'
export { check } from './library/check.ts'
export { CheckResult } from './library/check-result.ts'
export { checkSync } from './library/check-sync.ts'
export { describeShape, renderNotation } from './library/describe.ts'
export { type DifferOptions, differ, type LevelDifference } from './library/differ.ts'
export { type GenerateOptions, generate } from './library/generate.ts'
export type { HistoryInput } from './library/input.ts'
export type { ReadOptions } from './library/options.ts'
export { parseHistory } from './library/parse.ts'
export type {
  PlainHistory,
  PlainKey,
  PlainOp,
  PlainPairs,
  PlainStatement,
  PlainTransaction,
  PlainValue,
  PlainVersion,
} from './library/plain.ts'
export { type RenderOptions, render } from './library/render.ts'
export { type ShrinkOptions, type Shrunk, shrink } from './library/shrink.ts'
export { verify } from './library/verify.ts'
export { writeHistory } from './library/write.ts'
export type { DifferShape } from './pipeline/differ/shapes.ts'
export type { Layout } from './sim/layout.ts'
export type { SqlColumn, SqlRow, SqlType, SqlValue } from './sql/value.ts'
export type {
  Anomaly,
  Case,
  CertificateKind,
  Choice,
  Edge,
  EdgeKind,
  LevelResult,
  Outcome,
  Proof,
  Staleness,
} from './verdict/verdict.ts'
export type {
  AnomalyJson,
  CaseJson,
  CellJson,
  ChoiceJson,
  EdgeJson,
  GivenJson,
  HistoryCounts,
  OpJson,
  OverviewJson,
  OverviewRowJson,
  PassedJson,
  PlaceJson,
  ProofJson,
  ResultJson,
  RowJson,
  RunJson,
  SourceJson,
  StatementJson,
  StatementRowJson,
  TableJson,
  TimelineJson,
  TxnJson,
  VerdictJson,
  WitnessJson,
} from './verdict/verdict-file.ts'
export type { AimName } from './workload/aims.ts'
export type { Distribution } from './workload/distributions.ts'
export type { Mix, Shape, WorkloadParameters } from './workload/parameters.ts'
export type { SqlShape } from './workload/sql/parameters.ts'
