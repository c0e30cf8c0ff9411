// From the text of a plan, YAML or JSON, to the plan: every value is held to the schema, and what
// is wrong is told with its line and column, and with what may have been meant. Main function:
// readPlan.

import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import { InputError, type Place, UsageError } from '../base/errors.ts'
import { parseDuration, parseSize } from '../base/quantities.ts'
import { hintFor } from '../base/slips.ts'
import { readLevel } from '../levels/words.ts'
import { parseFaultPlan } from '../record/faults.ts'
import { SHAPES } from '../workload/parameters.ts'
import { SQL_SHAPES } from '../workload/sql/parameters.ts'
import type { Keep, NightPlan, Placed, PlannedTarget, PlannedWorkload, Split } from './plan.ts'
import { FINGERPRINT, PARAMETER_NAMES, PLAN_SCHEMA, RANGE, type Schema } from './plan-schema.ts'

const DEFAULT_BUDGET = '60s'
const DEFAULT_TIME = '10m'
const DEFAULT_MEMORY = '2g'
const DEFAULT_ATTEMPTS = 3
const MAX_RANGE = 1_000_000
/** Pattern of the schema -> what fits it. */
const HINTS: Readonly<Record<string, string>> = {
  [RANGE.source]: 'e.g. 5, 1..100 or 0..100 step 10',
  [FINGERPRINT.source]: 'the fingerprint of a finding, e.g. 469d7b38d217',
}

/** @param name what the plan is called if it does not say. Throws InputError, with its place. */
export function readPlan(text: string, name: string): NightPlan {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const reader = new PlanReader(lines)
  const [error] = document.errors
  if (error) throw reader.wrong('bad-plan', error.message, error.pos[0])
  if (document.contents === null || !isMap(document.contents)) {
    throw new InputError(
      'bad-plan',
      'a plan is a list of names and values',
      { line: 1, column: 1 },
      'e.g. targets: [embedded] and seeds: 1..100; docs/fleet.md has examples',
    )
  }
  for (const node of listOf(fieldOf(document.contents, 'known'))) asWritten(node)
  reader.expect(document.contents, PLAN_SCHEMA, 'the plan')
  return reader.read(document.contents, text, name)
}

class PlanReader {
  constructor(private readonly lines: LineCounter) {}

  placeOf(node: Node | null): Place {
    return this.placeAt(node?.range?.[0] ?? 0)
  }

  private placeAt(offset: number): Place {
    const { line, col } = this.lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }

  wrong(code: string, message: string, at: number | Node | null, hint?: string): InputError {
    const place = typeof at === 'number' ? this.placeAt(at) : this.placeOf(at)
    return new InputError(code, message, place, hint ?? null)
  }

  /** Holds a node to the schema, and all that is below it. */
  expect(root: Node, schema: Schema, what: string): void {
    const pending: [Node, Schema, string][] = [[root, schema, what]]
    while (pending.length > 0) {
      const [node, asked, name] = pending.pop()!
      const fitting = this.choose(node, asked, name)
      if (isMap(node)) pending.push(...this.expectFields(node, fitting, name).reverse())
      else if (isSeq(node)) {
        if (node.items.length < (fitting.minItems ?? 0)) {
          throw this.wrong('bad-plan', `${name} is an empty list`, node)
        }
        const items = node.items as Node[]
        pending.push(...items.map((item): [Node, Schema, string] => [item, fitting.items!, name]))
      } else this.expectScalar(node, fitting, name)
    }
  }

  /** The form that the value takes, of those it may take. */
  private choose(node: Node, schema: Schema, name: string): Schema {
    const forms = formsOf(schema)
    const fitting = forms.filter(({ type }) => isOfType(node, type))
    if (fitting.length === 0) {
      const wanted = [...new Set(forms.map(({ type }) => TYPE_WORDS[type ?? 'object']))]
      throw this.wrong('bad-plan', `${name} is ${wanted.join(' or ')}`, node)
    }
    // Two forms of text: that which has this pattern, or else the first, which then complains.
    const value = isScalar(node) ? String(node.value) : ''
    return fitting.find(({ pattern }) => !pattern || new RegExp(pattern).test(value)) ?? fitting[0]!
  }

  private expectFields(
    node: Node,
    { properties = {}, required = [] }: Schema,
    name: string,
  ): [Node, Schema, string][] {
    if (!isMap(node)) return []
    const fields: [Node, Schema, string][] = []
    const seen = new Set<string>()
    for (const { key, value } of node.items) {
      const field = String(isScalar(key) ? key.value : '')
      if (!Object.hasOwn(properties, field)) {
        const hint = hintFor(field, Object.keys(properties))
        throw this.wrong('unknown-field', `${name} has no "${field}"`, key as Node, hint)
      }
      if (value === null || (isScalar(value) && value.value === null)) {
        throw this.wrong('bad-plan', `"${field}" has no value`, key as Node)
      }
      seen.add(field)
      fields.push([value as Node, properties[field]!, `"${field}"`])
    }
    for (const field of required) {
      if (!seen.has(field)) throw this.wrong('bad-plan', `${name} lacks "${field}"`, node)
    }
    return fields
  }

  private expectScalar(node: Node, schema: Schema, name: string): void {
    const value = isScalar(node) ? node.value : null
    const shown = JSON.stringify(value)
    if (schema.enum && !schema.enum.includes(String(value))) {
      const hint = hintFor(String(value), schema.enum)
      throw this.wrong('bad-plan', `${name} cannot be ${shown}`, node, hint)
    }
    if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(String(value))) {
      throw this.wrong('bad-plan', `${name} cannot be ${shown}`, node, HINTS[schema.pattern])
    }
    if (schema.minimum !== undefined && (value as number) < schema.minimum) {
      throw this.wrong('bad-plan', `${name} is at least ${schema.minimum}, not ${shown}`, node)
    }
    if (typeof value === 'string' && value.trim() === '') {
      throw this.wrong('bad-plan', `${name} is empty`, node)
    }
  }

  /** The plan of a document that was held to the schema. */
  read(root: Node, text: string, name: string): NightPlan {
    const field = (of: string) => fieldOf(root, of)
    const parameters = this.readParameters(field('parameters'))
    const duration = field('duration')
    const limits = field('limits')
    const defaults = {
      workloads: this.readWorkloads(field('workloads'), parameters),
      dbLevels: this.readTexts(field('db-levels')),
      faults: this.readFaults(field('faults')),
    }
    const plan: NightPlan = {
      text,
      name: String(scalarOf(field('name')) ?? name),
      targets: listOf(field('targets')).map((node) => this.readTarget(node, parameters, defaults)),
      histories: this.readTexts(field('histories')),
      split: listOf(field('split')).map((node) => scalarOf(node) as Split),
      levels: this.readTexts(field('levels')),
      seeds: this.readNumbers(field('seeds')) ?? [1],
      repeats: Number(scalarOf(field('repeats')) ?? 1),
      durationMs: duration ? this.readBy(duration, parseDuration) : null,
      budgetMs: this.readBy(field('budget'), parseDuration, DEFAULT_BUDGET),
      timeMs: this.readBy(fieldOf(limits, 'time'), parseDuration, DEFAULT_TIME),
      memoryBytes: this.readBy(fieldOf(limits, 'memory'), parseSize, DEFAULT_MEMORY),
      attempts: Number(scalarOf(field('attempts')) ?? DEFAULT_ATTEMPTS),
      keep: (scalarOf(field('keep')) ?? 'findings') as Keep,
      known: listOf(field('known')).map((node) => String(scalarOf(node))),
    }
    this.expectWhole(plan, root)
    return plan
  }

  private expectWhole(plan: NightPlan, root: Node): void {
    const { targets, histories, levels } = plan
    if (targets.length === 0 && histories.length === 0) {
      const hint = 'e.g. targets: [embedded], or histories: recorded/'
      throw this.wrong('bad-plan', 'the plan has neither "targets" nor "histories"', root, hint)
    }
    if (histories.length > 0 && levels.length === 0) {
      const hint = 'e.g. levels: [si, ser]'
      throw this.wrong('bad-plan', 'histories need "levels" to be judged at', root, hint)
    }
    const node = fieldOf(root, 'levels')
    for (const level of levels) {
      // What a database calls its own is understood where the target is known.
      if (targets.length === 0) this.at(level.place, () => readLevel(level.value))
    }
    if (plan.memoryBytes < 64 * 1024 ** 2) {
      throw this.wrong('bad-plan', 'a job needs 64 MB or more', fieldOf(root, 'limits') ?? node)
    }
  }

  private readTarget(
    node: Node,
    parameters: Parameters,
    defaults: Pick<PlannedTarget, 'workloads' | 'dbLevels' | 'faults'>,
  ): PlannedTarget {
    if (!isMap(node)) return { ...this.placed(node), ...defaults }
    const given = (name: string) => fieldOf(node, name)
    return {
      ...this.placed(given('target')!),
      workloads: given('workloads')
        ? this.readWorkloads(given('workloads'), parameters)
        : defaults.workloads,
      dbLevels: given('db-levels') ? this.readTexts(given('db-levels')) : defaults.dbLevels,
      faults: given('faults') ? this.readFaults(given('faults')) : defaults.faults,
    }
  }

  private readWorkloads(node: Node | null, parameters: Parameters): PlannedWorkload[] {
    if (node === null) return [{ shape: null, parameters, place: { line: 1, column: 1 } }]
    return listOf(node).map((item) => {
      const isObject = isMap(item)
      const shapeNode = isObject ? fieldOf(item, 'shape') : item
      const shape = shapeNode === null ? null : String(scalarOf(shapeNode))
      const known: readonly string[] = [...SHAPES, ...SQL_SHAPES]
      if (shape !== null && !known.includes(shape)) {
        throw this.wrong('bad-plan', `unknown shape "${shape}"`, shapeNode, hintFor(shape, known))
      }
      const own = isObject ? this.readParameters(item) : new Map()
      return { shape, parameters: new Map([...parameters, ...own]), place: this.placeOf(item) }
    })
  }

  private readParameters(node: Node | null): Parameters {
    const found = new Map<string, readonly (number | string)[]>()
    for (const name of PARAMETER_NAMES) {
      const field = fieldOf(node, name)
      if (field === null) continue
      const isWord = ['reads', 'distribution', 'aim'].includes(name)
      const words = () => listOf(field).map((item) => scalarOf(item) as number | string)
      found.set(name, isWord ? words() : this.readNumbers(field)!)
    }
    return found
  }

  private readFaults(node: Node | null): Placed<readonly string[]>[] {
    if (node === null) return [{ value: [], place: { line: 1, column: 1 } }]
    return listOf(node).map((item) => {
      const place = this.placeOf(item)
      const words = listOf(item).map((word) => String(scalarOf(word)))
      const value = words.filter((word) => word !== 'none')
      this.at(place, () => parseFaultPlan(value))
      return { value, place }
    })
  }

  private readTexts(node: Node | null): Placed<string>[] {
    return listOf(node).map((item) => this.placed(item))
  }

  private placed(node: Node): Placed<string> {
    return { value: String(scalarOf(node)), place: this.placeOf(node) }
  }

  private readNumbers(node: Node | null): number[] | null {
    if (node === null) return null
    const numbers: number[] = []
    for (const item of listOf(node)) {
      const value = scalarOf(item)
      if (typeof value === 'number') numbers.push(value)
      else this.addRange(String(value), item, numbers)
    }
    if (new Set(numbers).size < numbers.length) {
      throw this.wrong('bad-plan', 'a value is there twice', node)
    }
    return numbers
  }

  private addRange(text: string, node: Node, numbers: number[]): void {
    const [from, to, step] = (RANGE.exec(text) ?? []).slice(1).map(Number)
    const stride = Number.isNaN(step) ? 1 : step!
    // Beyond them, a step leads nowhere.
    if (![from, to, stride].every(Number.isSafeInteger)) {
      throw this.wrong('bad-plan', `the range ${text} has a number that is too large`, node)
    }
    if (from! > to! || stride === 0) {
      throw this.wrong('bad-plan', `the range ${text} holds nothing`, node)
    }
    if ((to! - from!) / stride > MAX_RANGE) {
      throw this.wrong('bad-plan', `the range ${text} has more than ${MAX_RANGE} values`, node)
    }
    for (let value = from!; value <= to!; value += stride) numbers.push(value)
  }

  private readBy(node: Node | null, parse: (text: string) => number, usual = ''): number {
    const text = node === null ? usual : String(scalarOf(node))
    return this.at(this.placeOf(node), () => parse(text))
  }

  /** What is wrong with a value is wrong at its place. */
  private at<T>(place: Place, read: () => T): T {
    return atPlace(place, read)
  }
}

type Parameters = ReadonlyMap<string, readonly (number | string)[]>

/** Turns a complaint about a value into one about the place in the plan where it stands. */
export function atPlace<T>(place: Place, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new InputError('bad-plan', error.message, place, error.hint)
  }
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  object: 'names with values',
  array: 'a list',
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
}

function formsOf(schema: Schema): Schema[] {
  const forms: Schema[] = []
  const pending = [schema]
  while (pending.length > 0) {
    const next = pending.shift()!
    if (next.anyOf) pending.unshift(...next.anyOf)
    else forms.push(next)
  }
  return forms
}

function isOfType(node: Node, type: Schema['type']): boolean {
  if (type === 'object') return isMap(node)
  if (type === 'array') return isSeq(node)
  if (!isScalar(node)) return false
  if (type === 'integer') return Number.isSafeInteger(node.value)
  if (type === 'number') return typeof node.value === 'number' && Number.isFinite(node.value)
  return typeof node.value === 'string'
}

function fieldOf(node: Node | null, name: string): Node | null {
  if (node === null || !isMap(node)) return null
  const pair = node.items.find(({ key }) => isScalar(key) && key.value === name)
  return (pair?.value as Node | undefined) ?? null
}

/** The items of a list; a single value is a list of one. */
function listOf(node: Node | null): Node[] {
  if (node === null) return []
  return isSeq(node) ? (node.items as Node[]) : [node]
}

/** Digits that mean no number. */
function asWritten(node: Node): void {
  if (isScalar(node) && typeof node.value === 'number') node.value = node.source
}

function scalarOf(node: Node | null): unknown {
  return node !== null && isScalar(node) ? node.value : null
}
