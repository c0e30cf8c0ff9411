// The frame of a picture that is a file of its own: size, title and style sheet.

import { escapeMarkup } from '../escape.ts'
import { at } from './measure.ts'
import { PICTURE_STYLE } from './style.ts'

export function frame(body: string, width: number, height: number, title: string): string {
  const size = `width="${at(width)}" height="${at(height)}" viewBox="0 0 ${at(width)} ${at(height)}"`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="isobar" ${size} role="img">`,
    `<title>${escapeMarkup(title)}</title>`,
    `<style>\n${PICTURE_STYLE}\n</style>`,
    '<rect class="ground" width="100%" height="100%"/>',
    body,
    '</svg>\n',
  ].join('\n')
}
