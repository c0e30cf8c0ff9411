// Tables of plain text for a terminal. Main function: alignRows.

import { largest } from '../base/grow.ts'

/** A line for each row, its cells below each other; the last one as long as it is. */
export function alignRows(
  rows: readonly (readonly string[])[],
  side: 'left' | 'right' = 'left',
): string[] {
  const widths = rows[0]!.map((_, i) =>
    largest(
      rows.map((row) => row[i]!.length),
      0,
    ),
  )
  const pad = (cell: string, i: number) => {
    if (i === widths.length - 1) return cell
    return side === 'left' ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)
  }
  return rows.map((row) => row.map(pad).join('  '))
}
