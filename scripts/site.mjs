// Builds the site into dist/site: pages that check, teach and explain by themselves. They can be
// hosted anywhere, in any folder: paths are relative, no script stands in a page, and nothing is
// asked of anybody. Scripts are split, so that the SQL parser and the pictures come when they are
// used. The reference of all exports is made of the declarations in dist. Main function: buildSite;
// `npm run web` calls it.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { writeDeclarations } from './declarations.mjs'
import { bundlePage } from './page-script.mjs'
import { renderDocs } from './site-docs.mjs'

const ROOT = new URL('..', import.meta.url)
const OUT = new URL('dist/site/', ROOT)
const pathOf = (name) => fileURLToPath(new URL(name, ROOT))
const read = (name) => readFileSync(new URL(name, ROOT), 'utf8')

/** Nothing but what lies beside the page; its script may make WebAssembly, to parse faster. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/** @type {{ file: string, title: string, link: string, script: string, body: string }[]} */
const PAGES = [
  {
    file: 'index.html',
    title: 'Check a history · Isobar',
    link: 'Check',
    script: 'check-page',
    body: 'src/web/site/check.html',
  },
  {
    file: 'learn.html',
    title: 'Levels and anomalies · Isobar',
    link: 'Learn',
    script: 'learn-page',
    body: 'src/web/site/learn.html',
  },
  {
    file: 'differ.html',
    title: 'Where two levels differ · Isobar',
    link: 'Differ',
    script: 'differ-page',
    body: 'src/web/site/differ.html',
  },
]

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M3 22c7-12 19-12 26 0M3 14C10 2 22 2 29 14" fill="none" stroke="#0969da" stroke-width="4" stroke-linecap="round"/></svg>\n'

export async function buildSite() {
  rmSync(OUT, { recursive: true, force: true })
  mkdirSync(OUT, { recursive: true })
  const { metafile } = await build({
    absWorkingDir: pathOf('.'),
    entryPoints: [...PAGES.map(({ script }) => script), 'docs-page', 'worker'].map(
      (name) => `src/web/site/${name}.ts`,
    ),
    outdir: 'dist/site/script',
    chunkNames: '[name]-[hash]', // beside the entry points: the worker is found from any of them
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    charset: 'utf8',
    target: 'es2022',
    legalComments: 'none',
    metafile: true,
    plugins: [pageAssets(await bundlePage())],
  })
  await writeStyle()
  for (const page of PAGES) {
    writeFileSync(new URL(page.file, OUT), render({ ...page, body: read(page.body) }, metafile))
  }
  await renderDocs(new URL('docs/', OUT), ({ title, file, body }) =>
    render(
      { title: `${title} · Isobar`, file: `docs/${file}`, script: 'docs-page', body },
      metafile,
    ),
  )
  writeFileSync(new URL('icon.svg', OUT), ICON)
  writeFileSync(new URL('licences.txt', OUT), licencesOf(metafile))
}

/** The report that can be downloaded has the script that every report has. */
function pageAssets({ script, style }) {
  return {
    name: 'page-assets',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^#page-assets$/ }, () => ({ path: 'page-assets', namespace: 'made' }))
      onLoad({ filter: /.*/, namespace: 'made' }, () => ({
        contents: JSON.stringify({ script, style }),
        loader: 'json',
      }))
    },
  }
}

async function writeStyle() {
  const { outputFiles } = await build({
    stdin: {
      contents: "export { PICTURE_STYLE } from './src/report/picture/style.ts'",
      resolveDir: pathOf('.'),
    },
    bundle: true,
    write: false,
    format: 'esm',
  })
  const code = Buffer.from(outputFiles[0].text).toString('base64')
  const { PICTURE_STYLE } = await import(`data:text/javascript;base64,${code}`)
  await build({
    absWorkingDir: pathOf('.'),
    stdin: {
      contents: `@import "./site.css";\n${PICTURE_STYLE}`,
      loader: 'css',
      resolveDir: pathOf('src/web/site'),
    },
    outfile: 'dist/site/site.css',
    bundle: true,
    charset: 'utf8',
    minify: true,
  })
}

/**
 * The frame of every page.
 * @param {{ file: string, title: string, script: string, body: string }} page `file` from the root
 */
function render({ file, title, script, body }, metafile) {
  const up = file.includes('/') ? '../' : './'
  const pages = [...PAGES, { file: 'docs/index.html', link: 'Documentation' }]
  const links = pages.map((page) => {
    const here = page.file === file ? ' aria-current="page"' : ''
    return `<a href="${up}${page.file}"${here}>${page.link}</a>`
  })
  const entry = `dist/site/script/${script}.js`
  // What is needed at once is asked for at once, not one file after another.
  const preloads = neededBy(entry, metafile).filter((path) => path !== entry)
  return `${[
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="referrer" content="no-referrer">',
    `<title>${title}</title>`,
    `<link rel="icon" href="${up}icon.svg">`,
    `<link rel="stylesheet" href="${up}site.css">`,
    ...preloads.map(
      (path) => `<link rel="modulepreload" href="${up}${path.slice('dist/site/'.length)}">`,
    ),
    `<script type="module" src="${up}script/${script}.js"></script>`,
    '</head>',
    '<body>',
    '<a class="skip" href="#content">Skip to the content</a>',
    `<header class="site"><strong>Isobar</strong><nav aria-label="Pages">${links.join('')}</nav></header>`,
    '<main id="content">',
    body.trim(),
    '</main>',
    '</body>',
    '</html>',
  ].join('\n')}\n`
}

/** A script and all that it imports before it begins. */
function neededBy(entry, { outputs }) {
  const found = [entry]
  for (const name of found) {
    for (const { path, kind } of outputs[name].imports) {
      if (kind === 'import-statement' && !found.includes(path)) found.push(path)
    }
  }
  return found
}

/** The licences of everything that is bundled. */
function licencesOf({ inputs }) {
  const names = new Set()
  for (const path of Object.keys(inputs)) {
    const found = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)
    if (found) names.add(found[1])
  }
  const texts = [...names].sort().map((name) => {
    const folder = new URL(`node_modules/${name}/`, ROOT)
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
    const text = file === undefined ? '' : readFileSync(new URL(file, folder), 'utf8').trim()
    const { license } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'))
    return `${name} (${license})\n\n${text}\n`
  })
  return `The scripts of this site contain:\n\n${texts.join('\n')}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await writeDeclarations()
  await buildSite()
}
