// A file as one stream of transactions, each with all of its operations, numbered as partition.ts
// numbers them. That is the usual file: transactions stand side by side, have an end, and small
// integers for names. Any other is not streamed. Main class: FileStream.

import { type ByteColumn, IntColumn } from '../base/grow.ts'
import { type PlainFile, readPieces } from '../formats/pieces.ts'
import type { Draft } from '../formats/source.ts'
import { ABORTED, NONE } from '../history/history.ts'
import { SymbolTable } from '../history/symbols.ts'
import type { Value } from '../history/values.ts'
import { NumberSet } from './number-set.ts'
import { SessionTimes } from './session-times.ts'
import type { SpillSizes } from './spilled-history.ts'
import { isSmall } from './symbol-code.ts'

/** What was met that does not let a file be judged in a stream. */
export class NotStreamed extends Error {
  override readonly name = 'NotStreamed'
}

/** Statuses, and operations in the order of their transactions, numbered within the piece. */
export interface PieceOps {
  readonly opCount: number
  readonly opTxn: IntColumn
  readonly opKind: ByteColumn
  readonly opKey: IntColumn
  readonly opValue: IntColumn
  statusOf(txn: number): number
}

/** Some transactions that follow each other; the first may go on with the last one before. */
export interface StreamPiece {
  readonly first: number // number of the first one
  readonly txnCount: number
  readonly txnSession: Int32Array // transaction of the piece -> session
  readonly builder: PieceOps
  readonly initial: number // id of the initial value in this piece; NONE if there is none
}

const STREAM_BYTES = 1 << 20 // of text, so that what is made of it stays in the cache

export class FileStream {
  readonly keys = new SymbolTable()
  readonly sessions = new SymbolTable()
  readonly aborted = new IntColumn(16) // numbers of aborted transactions
  readonly warnings: string[] = []
  txnCount = 0
  opCount = 0
  hasLabels = false
  initial: Value | undefined
  private readonly ids: NumberSet
  private readonly times = new SessionTimes()
  private readonly goesOn: boolean // whether a transaction can have several lines
  private readonly abortedIn = new IntColumn(16) // session -> piece of its last one, if aborted
  private pieces = 0
  private lastId: Value = null // of the last transaction
  private lastSession: number = NONE
  private readonly nameOf = (session: number) => this.sessions.get(session)

  constructor(
    private readonly file: PlainFile,
    private readonly sizes: SpillSizes,
  ) {
    this.goesOn = file.format.id === 'plume'
    this.ids = new NumberSet(sizes.windowBytes / 4)
  }

  /** Throws NotStreamed, InputError. @param onProgress called now and then */
  *read(memoryBytes: number, onProgress: (readBytes: number) => void): Generator<StreamPiece> {
    const pieceBytes = Math.min(this.sizes.pieceBytes, STREAM_BYTES)
    for (const { draft, readBytes } of readPieces(this.file, pieceBytes, memoryBytes, this.keys)) {
      yield this.take(draft)
      onProgress(readBytes)
    }
  }

  private take(draft: Draft): StreamPiece {
    const { builder } = draft
    if (draft.obstacle !== null || draft.outcomes.length > 0) throw new NotStreamed('unusual')
    if (this.pieces++ === 0) this.initial = builder.initial
    for (const warning of builder.warnings) this.warnings.push(warning)
    const { txnCount } = builder
    const txnSession = new Int32Array(txnCount)
    const sessionOf = new Int32Array(builder.sessions.size).fill(NONE) // here -> of the file
    let first = this.txnCount
    for (let local = 0; local < txnCount; local++) {
      const here = builder.sessionOf(local)
      if (sessionOf[here] === NONE) sessionOf[here] = this.sessions.of(builder.sessions.get(here))
      txnSession[local] = sessionOf[here]!
      if (this.add(draft, local, sessionOf[here]!)) first--
    }
    this.opCount += builder.opCount
    const { initial } = this
    const initialId = initial === undefined ? NONE : builder.values.of(initial)
    return { first, txnCount, txnSession, builder, initial: initialId }
  }

  /** The next transaction; true if it is the last one before, which goes on. */
  private add({ builder, isOpen }: Draft, local: number, session: number): boolean {
    if (isOpen(local)) throw new NotStreamed('pending transactions')
    const id = builder.labelOf(local)
    const isLast = id !== null && id === this.lastId && session === this.lastSession
    if (this.goesOn && isLast && local === 0) return true
    if (id !== null && (!isSmall(id) || this.ids.add(id) !== true)) {
      throw new NotStreamed('ids that are not small, or come again')
    }
    if (id !== null) this.hasLabels = true
    const isAborted = builder.statusOf(local) === ABORTED
    this.expectNew(session, isAborted)
    const { times } = builder
    this.times.add(session, times.startOf(local), times.finishOf(local), this.nameOf)
    if (isAborted) this.aborted.push(this.txnCount)
    this.lastId = id
    this.lastSession = session
    this.txnCount++
    return false
  }

  /** In Plume text, aborted lines of a session may go on with those of the piece before. */
  private expectNew(session: number, isAborted: boolean): void {
    const { abortedIn, pieces } = this
    while (abortedIn.length <= session) abortedIn.push(0)
    const last = abortedIn.data[session]!
    if (this.goesOn && isAborted && last !== 0 && last !== pieces) {
      throw new NotStreamed('an aborted transaction that may go on')
    }
    abortedIn.data[session] = isAborted ? pieces : 0
  }
}
