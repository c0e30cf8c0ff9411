// A native history before it is built: what no history may have, and as a piece of one, for whoever
// takes it in pieces, what cannot be taken so.

import { InputError } from '../../base/errors.ts'
import type { IntColumn } from '../../base/grow.ts'
import type { HistoryBuilder } from '../../history/builder.ts'
import { NONE, type Places } from '../../history/history.ts'
import { renderJson } from '../sink.ts'
import type { Draft, Outcome } from '../source.ts'

/** @param opTxn arrival -> transaction; @param txnLine, opColumn where they stand */
export function placesOf(opTxn: IntColumn, txnLine: IntColumn, opColumn: IntColumn): Places {
  return {
    place: (arrival) => ({
      line: txnLine.data[opTxn.data[arrival]!]!,
      column: opColumn.data[arrival]!,
    }),
  }
}

/** Rows are keys like any other: an operation on a register must not be taken for theirs. */
export function refuseClash(builder: HistoryBuilder, places: Places): void {
  const clash = builder.statements?.findClash() ?? NONE
  if (clash === NONE) return
  const name = renderJson(builder.keys.get(builder.opKey.data[clash]!))
  const message = `the register ${name} has the name of a row`
  throw new InputError('mixed-key', message, places.place(clash), 'give registers other names')
}

export function draftOf(
  builder: HistoryBuilder,
  places: Places,
  hasAfter: boolean,
  outcomes: readonly Outcome[],
  isOpen: (txn: number) => boolean,
): Draft {
  const obstacle = obstacleOf(builder, hasAfter)
  return { builder, places, obstacle, outcomes, isOpen, mayGoOn: () => false }
}

function obstacleOf(builder: HistoryBuilder, hasAfter: boolean): string | null {
  if (builder.statements !== null) return 'SQL statements'
  if (hasAfter) return 'transactions that name others in "after"'
  if (builder.hasVersions) return 'versions'
  if (builder.hasFoundNothing)
    return 'an insert or a cas that found nothing, without an initial value'
  if (builder.partial !== null) return 'things that were left out'
  return builder.txnAudit === null ? null : 'audits'
}
