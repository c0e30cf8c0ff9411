// How wide text will be. A report is drawn without a screen, so widths are reckoned for the
// monospaced fonts of the style sheet: 0.61 of the size a character, twice that for wide ones.

/** East Asian wide characters and emoji, roughly. */
const WIDE = new RegExp(
  [
    '[\\u1100-\\u115f\\u2e80-\\ua4cf\\uac00-\\ud7a3\\uf900-\\ufaff]',
    '[\\ufe30-\\ufe6f\\uff00-\\uff60\\uffe0-\\uffe6]',
    '[\\u{1f300}-\\u{1faff}\\u{20000}-\\u{3fffd}]',
  ].join('|'),
  'u',
)

export function textWidth(text: string, size: number): number {
  let columns = 0
  for (const c of text) columns += WIDE.test(c) ? 2 : 1
  return Math.ceil(columns * size * 0.61)
}

/** A coordinate as SVG writes it: at most one decimal, so that bytes never depend on rounding. */
export function at(value: number): string {
  return String(Math.round(value * 10) / 10 + 0)
}
