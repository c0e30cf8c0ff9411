// Versions in a native line (history/versions.ts): {"version":3} behind the value of a read or a
// write, or "version":3 beside "ops" for all that the transaction writes. Main:
// TxnVersion, takeOpVersion.

import type { HistoryBuilder } from '../../history/builder.ts'
import {
  type GivenVersion,
  NO_VERSION,
  VERSION_HINT,
  versionOfLsn,
} from '../../history/versions.ts'
import { beginsNumber, type JsonScanner } from '../json.ts'
import { CLOSE_MAP, COLON, COMMA, OPEN_MAP, QUOTE } from '../scanner.ts'
import { Bookmark } from './bookmark.ts'

const OP_HINT =
  'the version of a read or a write stands behind its value: ["w","x",1,{"version":3}]'

/** A number, or an LSN in quotes. */
function takeVersion(scanner: JsonScanner): GivenVersion {
  const c = scanner.skipSpace()
  const at = scanner.at
  if (beginsNumber(c)) {
    const value = scanner.scanTime('version')
    return { value, text: scanner.timeText, isLsn: false }
  }
  if (c !== QUOTE) throw scanner.unexpected('a version', VERSION_HINT)
  scanner.scanString()
  const version = versionOfLsn(scanner.text())
  if (version !== null) return version
  const shown = JSON.stringify(scanner.text().slice(0, 40))
  throw scanner.fail(`the version ${shown} has no order`, at, VERSION_HINT, 'bad-version')
}

/** What was given twice, or in two kinds, has no order. */
function incomparable(scanner: JsonScanner, at: number) {
  const hint = 'let all versions of a history be numbers, or all of them LSNs'
  return scanner.fail('versions are numbers here and LSNs there', at, hint, 'bad-version')
}

/**
 * Takes what follows the value of the operation added last: {"version":3}.
 * @param hint why it has none; null if it has one
 */
export function takeOpVersion(
  scanner: JsonScanner,
  builder: HistoryBuilder,
  hint: string | null,
): void {
  scanner.expect(COMMA)
  if (scanner.skipSpace() !== OPEN_MAP) {
    throw scanner.fail('the operation has one value too many', scanner.at, OP_HINT)
  }
  const at = scanner.at
  scanner.at++
  scanner.need(QUOTE, '"version"', OP_HINT)
  scanner.scanString()
  if (!scanner.textIs('version')) throw scanner.fail('only "version" may stand here', at, OP_HINT)
  scanner.expect(COLON)
  const version = takeVersion(scanner)
  if (scanner.skipSpace() === COMMA)
    throw scanner.fail('only "version" may stand here', at, OP_HINT)
  scanner.expect(CLOSE_MAP)
  if (hint !== null) throw scanner.fail(NO_VERSION, at, hint)
  if (!builder.setVersion(version)) throw incomparable(scanner, at)
}

/** "version" beside "ops": looked at once it is known that its line is no header. */
export class TxnVersion {
  private readonly given: Bookmark

  constructor(private readonly scanner: JsonScanner) {
    this.given = new Bookmark(scanner)
  }

  /** Steps over it for now. */
  pass(): void {
    this.given.pass()
  }

  /** Takes what was stepped over last as the version of what a transaction writes. */
  assign(builder: HistoryBuilder, txn: number): void {
    const { scanner, given } = this
    given.visit(() => {
      if (!builder.setTxnVersion(txn, takeVersion(scanner))) throw incomparable(scanner, given.at)
    })
  }
}
