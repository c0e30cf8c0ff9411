// The style sheet of both pictures, for light and dark surroundings. No variables and no nesting,
// so that programs that are not browsers can show the files too. What a colour says is also said by
// dashes and by words.

interface Palette {
  ground: string
  text: string
  faint: string
  frame: string
  lane: string
  box: string
  write: string
  read: string
  focus: string
  kinds: Record<string, string>
}

const LIGHT: Palette = {
  ground: '#ffffff',
  text: '#1f2328',
  faint: '#59636e',
  frame: '#818b98',
  lane: '#f3f5f7',
  box: '#ffffff',
  write: '#fff1cc',
  read: '#e3effd',
  focus: '#0969da',
  kinds: {
    so: '#59636e',
    wr: '#1a7f37',
    ww: '#0550ae',
    rw: '#b34700',
    rt: '#7a3fc4',
    co: '#a8266f',
  },
}

const DARK: Palette = {
  ground: '#0d1117',
  text: '#e6edf3',
  faint: '#9da7b3',
  frame: '#6e7681',
  lane: '#161b22',
  box: '#0d1117',
  write: '#4a3a08',
  read: '#12325a',
  focus: '#58a6ff',
  kinds: {
    so: '#9da7b3',
    wr: '#4ac26b',
    ww: '#6cb6ff',
    rw: '#f0883e',
    rt: '#c297ff',
    co: '#f778ba',
  },
}

/** How an arrow of each kind is dashed. */
const DASHES: Record<string, string> = {
  so: 'none',
  wr: 'none',
  ww: '9 4',
  rw: '3 3',
  rt: '12 3 2 3',
  co: '7 3 2 3 2 3',
}

const FONT = 'ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace'

function colours(palette: Palette): string {
  const { ground, text, faint, frame, lane, box, write, read, focus, kinds } = palette
  const rules = [
    `text{fill:${text}}`,
    `.ground{fill:${ground}}`,
    `.lane{fill:${lane}}`,
    `.small,.isobar .session,.isobar .time,.isobar .skipped text{fill:${faint}}`,
    `.tick{stroke:${frame}}`,
    `.frame,.isobar .node rect{fill:${box};stroke:${frame}}`,
    `.op.write rect{fill:${write}}`,
    `.op.read rect{fill:${read}}`,
    `.tag{fill:${ground}}`,
    `.lanes .tag,.isobar.lanes .tag{fill:${lane}}`,
    `.lit .frame,.isobar .node.lit rect,.isobar .op.lit rect{stroke:${focus}}`,
    `.now .frame,.isobar .op.now rect{stroke:${kinds['co']}}`,
    `.arrow:focus .tag{stroke:${focus}}`,
    ...Object.entries(kinds).flatMap(([kind, colour]) => [
      `.${kind} .line{stroke:${colour}}`,
      `.${kind} .head,.isobar .${kind} .label{fill:${colour}}`,
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
  ...Object.entries(DASHES)
    .filter(([, dash]) => dash !== 'none')
    .map(([kind, dash]) => `.${kind} .line{stroke-dasharray:${dash}}`),
]

/** The whole style sheet; every rule is about elements inside `.isobar`. */
export const PICTURE_STYLE = [
  ...SHAPES.map((rule) => `.isobar ${rule}`),
  '.isobar.faded .arrow:not(.lit):not(:focus){opacity:.28}',
  colours(LIGHT),
  '@media (prefers-color-scheme:dark){',
  colours(DARK),
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
