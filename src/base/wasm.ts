// Assembles WebAssembly: a function over integers and vectors of 16 bytes in one memory, written as
// nested calls that read like its text format, `add(get(a), i32(1))`. For the few loops in which a
// compiler of JavaScript leaves half of the speed on the table. What comes out is a module's bytes.
// Main function: assemble.

/** Bytes of instructions; what leaves a value is called with the values it takes. */
export type Code = readonly number[]

/** A function: its parameters come first in its locals, and are all i32. */
export interface WasmFunction {
  /** Under which it is exported. */
  readonly name: string
  readonly parameters: number
  /** What it keeps besides, i32 and then i64. */
  readonly locals: { readonly i32: number; readonly i64: number }
  /** Leaves one i32. */
  readonly body: Code
}

const I32 = 0x7f
const I64 = 0x7e
const NO_VALUE = 0x40
const END = 0x0b

/** An unsigned number, seven bits a byte. */
function unsigned(n: number): number[] {
  const bytes: number[] = []
  for (; n > 0x7f; n >>>= 7) bytes.push((n & 0x7f) | 0x80)
  bytes.push(n)
  return bytes
}

/** A signed number likewise; the last byte's bit 6 is its sign. */
function signed(n: bigint): number[] {
  const bytes: number[] = []
  for (;;) {
    const byte = Number(n & 0x7fn)
    n >>= 7n
    if ((n === 0n && byte < 0x40) || (n === -1n && byte >= 0x40)) return [...bytes, byte]
    bytes.push(byte | 0x80)
  }
}

export const get = (local: number): Code => [0x20, ...unsigned(local)]
export const set = (local: number, value: Code): Code => [...value, 0x21, ...unsigned(local)]
export const i32 = (n: number): Code => [0x41, ...signed(BigInt(n))]
export const i64 = (n: bigint): Code => [0x42, ...signed(BigInt.asIntN(64, n))]

const binary =
  (opcode: number) =>
  (a: Code, b: Code): Code => [...a, ...b, opcode]
export const equal = binary(0x46)
export const differ = binary(0x47)
export const isAbove = binary(0x4b) // unsigned, as isAtLeast
export const isAtLeast = binary(0x4f)
export const add = binary(0x6a)
export const subtract = binary(0x6b)
export const and = binary(0x71)
export const or = binary(0x72)
export const xor = binary(0x73)
export const shiftLeft = binary(0x74)

export const add64 = binary(0x7c)
export const subtract64 = binary(0x7d)
export const multiply64 = binary(0x7e)
export const and64 = binary(0x83)
export const or64 = binary(0x84)
export const shiftLeft64 = binary(0x86)
export const shiftRight64 = binary(0x88)
export const trailingZeros64 = (value: Code): Code => [...value, 0x7a]
export const toI32 = (value: Code): Code => [...value, 0xa7]
export const toI64 = (value: Code): Code => [...value, 0xad]

const load =
  (...opcode: number[]) =>
  (at: Code, offset = 0): Code => [...at, ...opcode, 0, ...unsigned(offset)]
export const loadByte = load(0x2d)
export const loadTwo = load(0x2f)
export const load64 = load(0x29)
export const loadVector = load(0xfd, 0)

const store =
  (opcode: number) =>
  (at: Code, value: Code, offset = 0): Code => [...at, ...value, opcode, 0, ...unsigned(offset)]
export const store32 = store(0x36)
export const storeByte = store(0x3a)

const vector = (opcode: number): Code => [0xfd, ...unsigned(opcode)]
/** A vector of 16 equal bytes. */
export const bytesOf = (byte: number): Code => [...vector(12), ...Array<number>(16).fill(byte)]
export const subtractBytes = (a: Code, b: Code): Code => [...a, ...b, ...vector(0x71)]
/** All ones where the byte is above, unsigned. */
export const areAbove = (a: Code, b: Code): Code => [...a, ...b, ...vector(0x28)]
/** The highest bit of each byte. */
export const bitsOf = (value: Code): Code => [...value, ...vector(0x64)]

export const block = (...code: Code[]): Code => [0x02, NO_VALUE, ...code.flat(), END]
export const loop = (...code: Code[]): Code => [0x03, NO_VALUE, ...code.flat(), END]
export const when = (condition: Code, ...code: Code[]): Code => [
  ...condition,
  0x04,
  NO_VALUE,
  ...code.flat(),
  END,
]
/** Out of the block, or back to the beginning of the loop, that is so many around. */
export const go = (depth: number): Code => [0x0c, ...unsigned(depth)]
export const goIf = (depth: number, condition: Code): Code => [
  ...condition,
  0x0d,
  ...unsigned(depth),
]

const vectorOf = (items: readonly Code[]): number[] => [...unsigned(items.length), ...items.flat()]
const section = (id: number, ...items: Code[]): number[] => {
  const content = vectorOf(items)
  return [id, ...unsigned(content.length), ...content]
}
const nameOf = (name: string): number[] => vectorOf([...name].map((c) => [c.charCodeAt(0)]))

/** A module that imports its memory, `env.memory`, and exports the function. */
export function assemble({
  name,
  parameters,
  locals,
  body,
}: WasmFunction): Uint8Array<ArrayBuffer> {
  const type = [0x60, ...vectorOf(Array<Code>(parameters).fill([I32])), ...vectorOf([[I32]])]
  const memory = [...nameOf('env'), ...nameOf('memory'), 0x02, 0x00, 0x01]
  const kept = vectorOf([
    [...unsigned(locals.i32), I32],
    [...unsigned(locals.i64), I64],
  ])
  const code = [...kept, ...body, END]
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, type),
    ...section(2, memory),
    ...section(3, [0]),
    ...section(7, [...nameOf(name), 0x00, 0]),
    ...section(10, [...unsigned(code.length), ...code]),
  ])
}
