// A growth curve as an SVG on two logarithmic axes: a straight line of slope one is linear growth.

export interface Series {
  name: string
  points: { x: number; y: number }[]
}

const WIDTH = 520
const HEIGHT = 320
const MARGIN = 50
const DASHES = ['', '6 3', '2 3', '8 3 2 3']

export function plotGrowth(label: string, series: readonly Series[]): string {
  const all = series.flatMap((each) => each.points)
  const range = (values: number[]): [number, number] => [
    10 ** Math.floor(Math.log10(Math.min(...values))),
    10 ** Math.ceil(Math.log10(Math.max(...values))),
  ]
  const [x0, x1] = all.length > 0 ? range(all.map(({ x }) => x)) : [1, 10]
  const [y0, y1] = all.length > 0 ? range(all.map(({ y }) => y)) : [1, 10]
  const scale = (v: number, from: number, to: number) =>
    Math.log(v / from) / Math.log(to / from || 10)
  const px = (x: number) => MARGIN + scale(x, x0, x1) * (WIDTH - 2 * MARGIN)
  const py = (y: number) => HEIGHT - MARGIN - scale(y, y0, y1) * (HEIGHT - 2 * MARGIN)
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<title>seconds against ${label}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
  ]
  for (let x = x0; x <= x1; x *= 10) {
    parts.push(`<path d="M${px(x)} ${MARGIN}V${HEIGHT - MARGIN}" stroke="#ddd"/>`)
    parts.push(`<text x="${px(x)}" y="${HEIGHT - MARGIN + 18}" text-anchor="middle">${x}</text>`)
  }
  for (let y = y0; y <= y1 * 1.001; y *= 10) {
    parts.push(`<path d="M${MARGIN} ${py(y)}H${WIDTH - MARGIN}" stroke="#ddd"/>`)
    parts.push(
      `<text x="${MARGIN - 6}" y="${py(y) + 4}" text-anchor="end">${Number(y.toPrecision(1))} s</text>`,
    )
  }
  series.forEach(({ name, points }, i) => {
    const line = points.map(({ x, y }) => `${px(x).toFixed(1)} ${py(y).toFixed(1)}`).join('L')
    parts.push(
      `<path d="M${line}" fill="none" stroke="black" stroke-width="1.5" stroke-dasharray="${DASHES[i % DASHES.length]}"/>`,
    )
    const end = points[points.length - 1]!
    parts.push(`<text x="${px(end.x) + 4}" y="${py(end.y) + 4 - i * 12}">${name}</text>`)
  })
  parts.push(
    `<text x="${WIDTH / 2}" y="${HEIGHT - 8}" text-anchor="middle">${label}</text>`,
    '</svg>\n',
  )
  return parts.join('\n')
}
