// The library: everything a program needs to read, judge and explain histories. Runs in a browser
// too; reading files is in the command line only.

export { Deadline } from './base/deadline.ts'
export { BudgetExceeded, InputError, InternalError, UsageError } from './base/errors.ts'
export { type CheckOptions, check, checkLevels, checkModels, profile } from './check/check.ts'
export { judge } from './check/judge.ts'
export {
  detectFormat,
  FORMATS,
  type Format,
  type FormatId,
  parseHistory,
  parseHistoryStream,
} from './formats/formats.ts'
export { HistoryBuilder } from './history/builder.ts'
export type { Annotation, History } from './history/history.ts'
export { parseNotation, renderNotation } from './history/notation.ts'
export { describeShape } from './history/shape.ts'
export { subHistory } from './history/sub-history.ts'
export { ANOMALIES, type AnomalyKind, type AnomalyName } from './levels/anomalies.ts'
export { findJepsenModel, JEPSEN_MODELS, type JepsenModel } from './levels/jepsen.ts'
export { CHAIN, implies, LEVELS, type Level, type LevelId } from './levels/levels.ts'
export { renderDot } from './report/dot.ts'
export { describeVerdict, renderJson } from './report/json.ts'
export { renderJunit } from './report/junit.ts'
export { renderMarkdown } from './report/markdown.ts'
export { type PageAssets, renderHtml } from './report/page/html.ts'
export { renderSvg } from './report/picture/svg.ts'
export { countHistory, summarise } from './report/summary.ts'
export { renderText } from './report/text.ts'
export type { VerdictJson } from './report/verdict-json.ts'
export { parseVerdicts } from './report/verdict-parse.ts'
export { parseCertificate, writeCertificate } from './verdict/certificate-file.ts'
export { certifyResult } from './verdict/certify.ts'
export { type Decider, type Shrunk, shrinkHistory } from './verdict/shrink.ts'
export type {
  Anomaly,
  Case,
  Edge,
  EdgeKind,
  LevelResult,
  Outcome,
  Proof,
} from './verdict/verdict.ts'
