// How a strong level turns transactions and dependencies into nodes and edges of one graph that has
// to be acyclic. pc and si split a transaction into its snapshot (begin) and its commit (Viper's BC
// graph): a path alternates dependency and, at most, one anti-dependency, so a cycle of it is a
// cycle of (so ∪ wr ∪ ww);rw? for si and of ((so ∪ wr);rw?) ∪ ww for pc. ser needs one node.
//
//   level | so, wr T→S | ww T→S   | rw T→S   | T known before S when
//   pc    | c_T → b_S  | c_T → c_S | b_T → c_S | c_T ⇝ c_S
//   si    | c_T → b_S  | c_T → b_S | b_T → c_S | b_T ⇝ c_S (else they overlap and both write a key)
//   ser   | T → S      | T → S     | T → S     | T ⇝ S
//
// sser is ser with a chain of instants as one more session (see known-edges.ts).

import type { LevelId } from '../../levels/levels.ts'

export type StrongLevel = Extract<LevelId, 'pc' | 'si' | 'ser' | 'sser'>

/** Node of transaction t: width · t + one of the offsets. Nodes of a session stay consecutive. */
export interface LevelShape {
  readonly level: StrongLevel
  readonly width: number // nodes per transaction
  readonly commit: number // offset of the commit node; the begin node has offset 0
  readonly versionTo: number // offset at which a ww edge arrives
  readonly orderFrom: number // offset whose reaching a commit means "before it" in version order
}

export const SHAPES: Readonly<Record<StrongLevel, LevelShape>> = {
  pc: { level: 'pc', width: 2, commit: 1, versionTo: 1, orderFrom: 1 },
  si: { level: 'si', width: 2, commit: 1, versionTo: 0, orderFrom: 0 },
  ser: { level: 'ser', width: 1, commit: 0, versionTo: 0, orderFrom: 0 },
  sser: { level: 'sser', width: 1, commit: 0, versionTo: 0, orderFrom: 0 },
}
