// The usual lines of Plume text, `r(key,value,session,txn)` with numbers of at most eight digits,
// parsed by WebAssembly with vectors, two to three times as fast as JavaScript does it: one look at
// 48 bytes tells where all four numbers end, and eight digits become a number by three
// multiplications, with no branch that depends on how long numbers are. It stops at the first line
// that is anything else, which is left to whoever can explain it (read.ts).
//
// What it finds lies in columns of its own memory, until the next call; a transaction's id and
// session are told where they change. Main function: lineKernel.

import * as wasm from '../../base/wasm.ts'

/** Bytes that one call goes through. They and what is made of them stay in the cache. */
export const KERNEL_BYTES = 1 << 16
/** A line that begins before the end may go on behind it; 48 bytes of each are looked at. */
const BEHIND = 64
/** r(0,0,0,0) and its newline. */
export const SHORTEST_LINE = 11
const MOST_LINES = Math.ceil(KERNEL_BYTES / SHORTEST_LINE)
/** Of `changes`: line, transaction, session. */
export const CHANGE_STRIDE = 3

// The memory, from 0 on: where it stopped, where changes end; then input and columns.
const STOP = 0
const CHANGES_END = 4
const INPUT = 64
const KEYS = INPUT + KERNEL_BYTES + BEHIND
const VALUES = KEYS + MOST_LINES * 4
const CHANGES = VALUES + MOST_LINES * 4
const KINDS = CHANGES + MOST_LINES * CHANGE_STRIDE * 4
const MEMORY_BYTES = KINDS + MOST_LINES
const PAGE_BYTES = 1 << 16

/** What was found in usual lines. */
export interface UsualLines {
  readonly keys: Int32Array // line -> key, as the file has it
  readonly values: Int32Array // line -> value
  readonly kinds: Uint8Array // line -> READ or WRITE
  /** Lines where transaction or session are others than in the line before. */
  readonly changes: Int32Array
  readonly changeCount: number
}

export interface LineKernel extends UsualLines {
  changeCount: number
  /** Bytes that the last call got through. */
  parsedBytes: number
  /**
   * Parses usual lines of bytes[from .. to), which are whole lines, as far as they begin within
   * KERNEL_BYTES; returns how many.
   * @param id transaction of the line before, as session
   */
  parse(bytes: Uint8Array, from: number, to: number, id: number, session: number): number
}

let kernel: LineKernel | null | undefined

/** Null where there is no WebAssembly, or where the page does not allow it. */
export function lineKernel(): LineKernel | null {
  if (kernel === undefined) kernel = makeKernel()
  return kernel
}

/** What is used of WebAssembly, which not all environments declare. */
export interface WebAssemblyApi {
  Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer }
  Module: new (bytes: Uint8Array) => object
  Instance: new (
    module: object,
    imports: object,
  ) => {
    readonly exports: {
      parse(end: number, id: number, session: number): number
    }
  }
}

/** What another thread needs to parse lines by itself: the kernel, and how its memory is laid out. */
export function kernelParts() {
  const layout = { STOP, CHANGES_END, INPUT, KEYS, VALUES, CHANGES, KINDS, MOST_LINES }
  const pages = Math.ceil(MEMORY_BYTES / PAGE_BYTES)
  return { code: wasm.assemble(PARSE), pages, layout, BEHIND, KERNEL_BYTES, CHANGE_STRIDE }
}

function makeKernel(): LineKernel | null {
  try {
    const api = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly
    const memory = new api.Memory({ initial: Math.ceil(MEMORY_BYTES / PAGE_BYTES) })
    const module = new api.Module(wasm.assemble(PARSE))
    const { parse } = new api.Instance(module, { env: { memory } }).exports
    const { buffer } = memory
    const results = new Int32Array(buffer, 0, 2)
    const input = new Uint8Array(buffer, INPUT, KERNEL_BYTES + BEHIND)
    return {
      keys: new Int32Array(buffer, KEYS, MOST_LINES),
      values: new Int32Array(buffer, VALUES, MOST_LINES),
      kinds: new Uint8Array(buffer, KINDS, MOST_LINES),
      changes: new Int32Array(buffer, CHANGES, MOST_LINES * CHANGE_STRIDE),
      changeCount: 0,
      parsedBytes: 0,
      parse(bytes, from, to, id, session) {
        input.set(bytes.subarray(from, Math.min(to, from + KERNEL_BYTES + BEHIND)))
        const lines = parse(INPUT + Math.min(to - from, KERNEL_BYTES), id, session)
        this.parsedBytes = results[STOP >> 2]! - INPUT
        this.changeCount = (results[CHANGES_END >> 2]! - CHANGES) / (CHANGE_STRIDE * 4)
        return lines
      },
    }
  } catch {
    return null
  }
}

const { get, set, i32, i64, add, subtract, or } = wasm
const LETTER_W_OPEN = 0x2877 // w( as two bytes, the first one lower; so with the others
const LETTER_R_OPEN = 0x2872
const CLOSE_NEWLINE = 0x0a29
const COMMA = 44

/**
 * The number of at most eight digits that begins there. No function, because calls are not inlined.
 * @param x a local to use
 */
function numberAt(start: wasm.Code, length: wasm.Code, x: number): wasm.Code {
  const bits = wasm.toI64(wasm.shiftLeft(length, i32(3)))
  // The first digit is in the lowest byte: what is behind the last is shifted out at the top, and
  // zeros come in below, before the first.
  const digits = wasm.shiftLeft64(wasm.load64(start), wasm.subtract64(i64(64n), bits))
  /** Neighbours become one number: the lower one, times its weight, and the upper one. */
  const pairUp = (weight: bigint, width: bigint) =>
    wasm.add64(wasm.multiply64(get(x), i64(weight)), wasm.shiftRight64(get(x), i64(width)))
  return [
    ...set(x, wasm.and64(digits, i64(0x0f0f0f0f0f0f0f0fn))),
    ...set(x, wasm.and64(pairUp(10n, 8n), i64(0x00ff00ff00ff00ffn))),
    ...set(x, wasm.and64(pairUp(100n, 16n), i64(0x0000ffff0000ffffn))),
    ...wasm.toI32(pairUp(10_000n, 32n)),
  ]
}

// The locals of the function: its parameters first, (end of the input, transaction, session).
const [end, lastId, lastSession] = [0, 1, 2]
// What it keeps: lines so far; the line's beginning, its first two bytes, where its numbers begin
// and, counted from there, where each of them ends; the end of the changes.
const [lines, at, head, start] = [3, 4, 5, 6]
const [keyEnd, valueEnd, sessionEnd, idEnd] = [7, 8, 9, 10]
const [session, id, change] = [11, 12, 13]
const mask = 14 // a bit for each byte from `start` on that is no digit
const number = 15

const othersThanDigits = (offset: number) => {
  const distance = wasm.subtractBytes(wasm.loadVector(get(start), offset), wasm.bytesOf(48))
  const bits = wasm.toI64(wasm.bitsOf(wasm.areAbove(distance, wasm.bytesOf(9))))
  return offset === 0 ? bits : wasm.shiftLeft64(bits, i64(BigInt(offset)))
}
const takeLowest = (into: number) => [
  ...set(into, wasm.toI32(wasm.trailingZeros64(get(mask)))),
  ...set(mask, wasm.and64(get(mask), wasm.subtract64(get(mask), i64(1n)))),
]
const behind = (local: number) => add(get(start), get(local))
const isNoComma = (local: number) => wasm.xor(wasm.loadByte(behind(local)), i32(COMMA))
const isNoEnd = wasm.xor(wasm.loadTwo(behind(idEnd)), i32(CLOSE_NEWLINE))
/** The length of a number, less so many; above all others if it would be negative. */
const length = (from: number, to: number, less: number) =>
  subtract(subtract(get(to), get(from)), i32(less))
const numberBetween = (from: number, to: number) =>
  numberAt(add(behind(from), i32(1)), length(from, to, 1), number)
const inColumn = (column: number) => add(i32(column), wasm.shiftLeft(get(lines), i32(2)))

const findEnds = [
  ...set(
    mask,
    wasm.or64(othersThanDigits(0), wasm.or64(othersThanDigits(16), othersThanDigits(32))),
  ),
  ...[keyEnd, valueEnd, sessionEnd, idEnd].flatMap(takeLowest),
]
const isUnusual = or(or(isNoComma(keyEnd), isNoComma(valueEnd)), or(isNoComma(sessionEnd), isNoEnd))
// All lengths are from 1 to 8: less one, none has a bit above the lowest three.
const isTooLong = wasm.isAbove(
  or(
    or(subtract(get(keyEnd), i32(1)), length(keyEnd, valueEnd, 2)),
    or(length(valueEnd, sessionEnd, 2), length(sessionEnd, idEnd, 2)),
  ),
  i32(7),
)
const keepOperation = [
  ...wasm.store32(inColumn(KEYS), numberAt(get(start), get(keyEnd), number)),
  ...wasm.store32(inColumn(VALUES), numberBetween(keyEnd, valueEnd)),
  ...wasm.storeByte(add(i32(KINDS), get(lines)), wasm.equal(get(head), i32(LETTER_W_OPEN))),
]
const keepChange = [
  ...set(session, numberBetween(valueEnd, sessionEnd)),
  ...set(id, numberBetween(sessionEnd, idEnd)),
  ...wasm.when(
    or(wasm.differ(get(id), get(lastId)), wasm.differ(get(session), get(lastSession))),
    wasm.store32(get(change), get(lines)),
    wasm.store32(get(change), get(id), 4),
    wasm.store32(get(change), get(session), 8),
    set(change, add(get(change), i32(CHANGE_STRIDE * 4))),
    set(lastId, get(id)),
    set(lastSession, get(session)),
  ),
]
const [AGAIN, DONE] = [0, 1]
/** Leaves how many lines there are. */
const PARSE: wasm.WasmFunction = {
  name: 'parse',
  parameters: 3,
  locals: { i32: 11, i64: 2 },
  body: [
    ...set(at, i32(INPUT)),
    ...set(change, i32(CHANGES)),
    ...wasm.block(
      wasm.loop(
        wasm.goIf(DONE, wasm.isAtLeast(get(at), get(end))),
        set(head, wasm.loadTwo(get(at))),
        wasm.goIf(
          DONE,
          wasm.and(
            wasm.differ(get(head), i32(LETTER_R_OPEN)),
            wasm.differ(get(head), i32(LETTER_W_OPEN)),
          ),
        ),
        set(start, add(get(at), i32(2))),
        findEnds,
        wasm.goIf(DONE, isUnusual),
        wasm.goIf(DONE, isTooLong),
        keepOperation,
        keepChange,
        set(lines, add(get(lines), i32(1))),
        set(at, add(behind(idEnd), i32(2))),
        wasm.go(AGAIN),
      ),
    ),
    ...wasm.store32(i32(STOP), get(at)),
    ...wasm.store32(i32(CHANGES_END), get(change)),
    ...get(lines),
  ],
}
