// The names in a line of the native format. Unknown names are skipped, so that recorders can add
// their own; but a name that is nearly a known one (slips.ts) is an error, lest a misspelt "finish"
// silently switch off the real-time check.

export const FIELDS = [
  'session',
  'id',
  'status',
  'start',
  'finish',
  'level',
  'ops',
  'pending',
  'outcome',
  'isobar',
  'initial',
  'tables',
  'audit',
  'after',
  'unit',
  'mark',
  'partial',
  'version',
] as const

export const SESSION = 0
export const ID = 1
export const STATUS = 2
export const START = 3
export const FINISH = 4
export const LEVEL = 5
export const OPS = 6
export const PENDING = 7
export const OUTCOME = 8
export const ISOBAR = 9
export const INITIAL = 10
export const TABLES = 11
export const AUDIT = 12
export const AFTER = 13
export const UNIT = 14
export const MARK = 15
export const PARTIAL = 16
export const VERSION = 17
export const UNKNOWN = -1

/** The first two letters and the length tell the known names apart. */
const BY_SHAPE = new Int8Array(8192).fill(UNKNOWN)
const shapeOf = (first: number, second: number, length: number) =>
  ((first & 31) << 8) | ((second & 31) << 3) | length
FIELDS.forEach((name, index) => {
  BY_SHAPE[shapeOf(name.charCodeAt(0), name.charCodeAt(1), name.length)] = index
})

/** The only field that a name of these first letters and this length can be. */
export function fieldOfShape(first: number, second: number, length: number): number {
  return length < 8 ? BY_SHAPE[shapeOf(first, second, length)]! : UNKNOWN
}

/** Names other recorders use for ours. */
export const ALIASES: Record<string, string> = {
  begin: 'start',
  end: 'finish',
  operations: 'ops',
  state: 'status',
  txn: 'id',
  process: 'session',
}

export const HEADER_FIELDS: readonly string[] = ['tables', 'unit', 'partial']

/** A line that is no header may well have a field of its own that is called "table", or "marks". */
const NOT_OF_LINES: readonly string[] = [...HEADER_FIELDS, 'mark']
export const LINE_FIELDS: readonly string[] = FIELDS.filter((name) => !NOT_OF_LINES.includes(name))

/** Who makes the marks of a native history. */
export const RUN = 'run'
