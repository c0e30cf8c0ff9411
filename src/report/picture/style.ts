// The style sheet of both pictures, for light and dark surroundings. No variables and no nesting,
// so that programs that are not browsers can show the files too. What a colour says is also said by
// dashes and by words.

/** In light surroundings, and in dark ones. */
type Shades = readonly [light: string, dark: string]

const COLOURS = {
  ground: ['#ffffff', '#0d1117'],
  text: ['#1f2328', '#e6edf3'],
  faint: ['#59636e', '#9da7b3'],
  frame: ['#818b98', '#6e7681'],
  lane: ['#f3f5f7', '#161b22'],
  box: ['#ffffff', '#0d1117'],
  write: ['#fff1cc', '#4a3a08'],
  read: ['#e3effd', '#12325a'],
  focus: ['#0969da', '#58a6ff'],
} as const satisfies Record<string, Shades>

/** The colours of an arrow of each kind. */
export const KIND_COLOURS: Readonly<Record<string, Shades>> = {
  so: ['#59636e', '#9da7b3'],
  wr: ['#1a7f37', '#4ac26b'],
  ww: ['#0550ae', '#6cb6ff'],
  rw: ['#b34700', '#f0883e'],
  rt: ['#7a3fc4', '#c297ff'],
  co: ['#a8266f', '#f778ba'],
}

/** How it is dashed, if it is. */
const DASHES = { ww: '9 4', rw: '3 3', rt: '12 3 2 3', co: '7 3 2 3 2 3' }

const FONT = 'ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace'

function colours(shade: 0 | 1): string {
  const of = (name: keyof typeof COLOURS) => COLOURS[name][shade]
  const rules = [
    `text{fill:${of('text')}}`,
    `.ground{fill:${of('ground')}}`,
    `.lane{fill:${of('lane')}}`,
    `.small,.isobar .session,.isobar .time,.isobar .skipped text{fill:${of('faint')}}`,
    `.tick{stroke:${of('frame')}}`,
    `.frame,.isobar .node rect{fill:${of('box')};stroke:${of('frame')}}`,
    `.op.write rect{fill:${of('write')}}`,
    `.op.read rect{fill:${of('read')}}`,
    `.tag{fill:${of('ground')}}`,
    `.lanes .tag,.isobar.lanes .tag{fill:${of('lane')}}`,
    `.lit .frame,.isobar .node.lit rect,.isobar .op.lit rect{stroke:${of('focus')}}`,
    `.now .frame,.isobar .op.now rect{stroke:${KIND_COLOURS['co']![shade]}}`,
    `.arrow:focus .tag{stroke:${of('focus')}}`,
    ...Object.entries(KIND_COLOURS).flatMap(([kind, shades]) => [
      `.${kind} .line{stroke:${shades[shade]}}`,
      `.${kind} .head,.isobar .${kind} .label{fill:${shades[shade]}}`,
    ]),
  ]
  return rules.map((rule) => `.isobar ${rule}`).join('\n')
}

const SHAPES = [
  `text{font:13px ${FONT}}`,
  '.name{font-weight:700;font-size:14px}',
  '.node text,.isobar .label,.isobar .time{text-anchor:middle}',
  '.small,.isobar .time{font-size:11px}',
  '.label{font-size:12px;font-weight:600}',
  '.lanes .label,.isobar.lanes .label{font-size:11px}',
  '.line{fill:none;stroke-width:1.8}',
  '.hit{fill:none;stroke:#000;stroke-opacity:0;stroke-width:16}',
  '.tick{fill:none;stroke-width:1;stroke-dasharray:1 5}',
  '.so .line{stroke-width:1.2}',
  '.frame,.isobar .node rect{stroke-width:1.2}',
  '.aborted .frame,.isobar .node.aborted rect{stroke-dasharray:5 3}',
  '.indeterminate .frame,.isobar .node.indeterminate rect{stroke-dasharray:2 3}',
  '.node.initial rect{stroke-dasharray:1 3}',
  '.lit .frame,.isobar .node.lit rect,.isobar .op.lit rect{stroke-width:2.4}',
  '.now .frame,.isobar .op.now rect{stroke-width:2.4}',
  '.arrow{outline:none}',
  '.arrow.lit .line,.isobar .arrow:focus .line{stroke-width:3.4}',
  '.arrow:focus .tag{stroke-width:2}',
  '.arrow.open .line{stroke-opacity:.35}',
  '.arrow[role=button]{cursor:pointer}',
  ...Object.entries(DASHES).map(([kind, dash]) => `.${kind} .line{stroke-dasharray:${dash}}`),
]

/** The whole style sheet; every rule is about elements inside `.isobar`. */
export const PICTURE_STYLE = [
  ...SHAPES.map((rule) => `.isobar ${rule}`),
  '.isobar.faded .arrow:not(.lit):not(:focus){opacity:.28}',
  colours(0),
  '@media (prefers-color-scheme:dark){',
  colours(1),
  '}',
].join('\n')

/** What the kinds of arrows mean, in the order of a legend. */
export const KIND_WORDS: Record<string, string> = {
  so: 'session order: the first comes before the second in one session',
  wr: 'reads from: the second read what the first wrote',
  ww: 'version order: the second replaced the first one’s version',
  rw: 'overwritten: the first read a version that the second replaced',
  rt: 'real time: the first finished before the second started',
  co: 'commit order: the level forces the first to commit before the second',
}
