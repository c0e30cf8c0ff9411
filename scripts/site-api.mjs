// The reference of all exports as pages of the documentation: TypeDoc reads the declarations of
// the package, as they were built, and what it finds becomes Markdown, which scripts/site-docs.mjs
// renders like every other page. Main function: describeApi.

import { fileURLToPath } from 'node:url'
import { Application, ReflectionKind } from 'typedoc'
import ts from 'typescript'

const DIST = new URL('../dist/', import.meta.url)

/** What a program can import from, and a sentence about each. */
const DOORS = [
  {
    door: 'isobar',
    file: 'index',
    about:
      'Checking, reading, writing, making and rendering histories: see [the library](library.md).',
  },
  {
    door: 'isobar/pg',
    file: 'application/pg',
    about: 'Recording an application: see [record your application](record-your-app.md).',
  },
  {
    door: 'isobar/race',
    file: 'application/race/race',
    about: 'Racing pieces of an application: see [test your application](test-your-app.md).',
  },
  {
    door: 'isobar/embedded',
    file: 'application/embedded',
    about: 'A PostgreSQL for a test: see [the library](library.md#a-postgresql-for-a-test).',
  },
  {
    door: 'isobar/vitest',
    file: 'matchers/vitest',
    about:
      "`import 'isobar/vitest'` gives Vitest's `expect` the matcher `toBeIsolated`: see [reports](reports.md).",
  },
  {
    door: 'isobar/jest',
    file: 'matchers/jest',
    about:
      "`import 'isobar/jest'` gives Jest's `expect` the matcher `toBeIsolated`: see [reports](reports.md).",
  },
]

const GROUPS = [
  ['Functions', ReflectionKind.Function],
  ['Values', ReflectionKind.Variable],
  ['Classes', ReflectionKind.Class],
  ['Types', ReflectionKind.Interface | ReflectionKind.TypeAlias],
  ['From other modules', ReflectionKind.Reference],
]

/** Long unions of words that have a name of their own: what is written out -> name. */
const NAMED_UNIONS = new Map()

/** A declaration on one line up to so many characters. */
const WIDTH = 90

/**
 * @param {(text: string, taken: Map<string, number>) => string} slugOf the anchor of a heading
 * @returns {Promise<{ name: string, text: string }[]>} pages in Markdown
 */
export async function describeApi(slugOf) {
  const project = await readDeclarations()
  const pages = DOORS.map(({ door, file, about }) => {
    const module = project.children.find(({ name }) => name === file)
    if (!module) throw new Error(`no declarations of ${door}: run npm run build`)
    const groups = GROUPS.map(([title, kinds]) => ({
      title,
      members: module.children
        .filter(({ kind }) => (kind & kinds) !== 0)
        .sort((a, b) => a.name.localeCompare(b.name)),
    })).filter(({ members }) => members.length > 0)
    return { name: `api-${door.replace('/', '-')}.md`, title: `Reference: ${door}`, about, groups }
  })
  for (const { groups } of pages) {
    for (const { name, kind, type } of groups.flatMap(({ members }) => members)) {
      const isLong = kind === ReflectionKind.TypeAlias && String(type).length > WIDTH
      if (isLong && type.type === 'union') NAMED_UNIONS.set(String(type), name)
    }
  }
  const places = findPlaces(pages, slugOf)
  return pages.map((page) => ({ name: page.name, text: pageText(page, places) }))
}

async function readDeclarations() {
  const files = DOORS.map(({ file }) => fileURLToPath(new URL(`${file}.d.ts`, DIST)))
  const app = await Application.bootstrap({
    entryPoints: files,
    name: 'isobar',
    readme: 'none',
    logLevel: 'Error',
    skipErrorChecking: true, // the build has checked the sources
    excludePrivate: true,
    excludeInternal: true,
    disableGit: true,
    disableSources: true,
    sort: ['source-order'],
  })
  const options = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    types: ['node'],
  }
  app.options.setCompilerOptions(files, options, undefined)
  const project = await app.convert()
  if (!project) throw new Error('TypeDoc could not read the declarations in dist')
  return project
}

/** Where each export is told of: name -> page -> address. The first page that has it is its home. */
function findPlaces(pages, slugOf) {
  const places = new Map()
  for (const { name, title, groups } of pages) {
    const taken = new Map()
    slugOf(title, taken)
    for (const group of groups) {
      slugOf(group.title, taken)
      for (const { name: member, kind } of group.members) {
        const slug = slugOf(member, taken)
        if (kind === ReflectionKind.Reference) continue
        if (!places.has(member)) places.set(member, new Map())
        places.get(member).set(name, `${name}#${slug}`)
      }
    }
  }
  return places
}

function pageText({ name, title, about, groups }, places) {
  /** The address of an export, as seen from this page. */
  const find = (word) => {
    const found = places.get(word)
    return found?.get(name) ?? found?.values().next().value ?? null
  }
  const lines = [`# ${title}`, '', about, '']
  for (const group of groups) {
    const names = group.members.map((member) => linked(member.name, find))
    lines.push(`## ${group.title}`, '', names.join(', '), '')
    for (const member of group.members) {
      lines.push(`### ${member.name}`, '', ...describe(member, find), '')
    }
  }
  return lines.join('\n')
}

function describe(member, find) {
  if (member.kind === ReflectionKind.Reference) {
    return [`The same as ${linked(member.name, find)}.`]
  }
  if (member.kind === ReflectionKind.Function) {
    return member.signatures.flatMap((signature) => [
      ...fence(declarationOf(signature)),
      ...commentLines(signature.comment, find),
      ...parameterLines(signature, find),
      ...usedLines([declarationOf(signature)], member.name, find),
    ])
  }
  const comment = commentLines(member.comment, find)
  const all = member.children ?? member.type?.declaration?.children ?? []
  // Objects of these classes are given, not made by programs.
  const children = all.filter(({ kind }) => kind !== ReflectionKind.Constructor)
  if (children.length > 0) {
    return [...comment, ...children.flatMap((child) => memberLines(child, find))]
  }
  const word = member.kind === ReflectionKind.Variable ? 'const' : 'type'
  const sign = word === 'const' ? ':' : ' ='
  const text = `${word} ${member.name}${sign} ${typeText(member.type)}`
  return [...fence(broken(text)), ...comment, ...usedLines([text], member.name, find)]
}

/** `name(a: A, b?: B): C`, a line for each parameter where that is long. */
function declarationOf(signature, name = signature.name, width = WIDTH) {
  const parameters = (signature.parameters ?? []).map(
    ({ name: each, type, flags, defaultValue }) => {
      const isOptional = flags.isOptional || defaultValue !== undefined
      const word = each === '__namedParameters' ? nameFor(type) : each
      return `${flags.isRest ? '...' : ''}${word}${isOptional ? '?' : ''}: ${typeText(type)}`
    },
  )
  const generics = signature.typeParameters?.map((each) => each.name).join(', ')
  const start = `${name}${generics ? `<${generics}>` : ''}`
  const end = signature.type ? `: ${typeText(signature.type)}` : ''
  const line = `${start}(${parameters.join(', ')})${end}`
  if (line.length <= width) return line
  return `${start}(\n${parameters.map((each) => `  ${each},\n`).join('')})${end}`
}

/** What a parameter is called that is taken apart where it is declared. */
function nameFor({ name }) {
  return !name || name.endsWith('Options') || name === 'Pick'
    ? 'options'
    : name[0].toLowerCase() + name.slice(1)
}

/** A type, with the tables of fields that types of verdict files come from as what they stand for. */
function typeText(type) {
  let text = String(type)
  for (;;) {
    const found = /(\??)(: |\b)(FieldsOf|OptionalShape|Shape)</.exec(text)
    if (!found) return text
    const from = found.index + found[0].length
    let depth = 1
    let to = from
    for (; depth > 0; to++) {
      if (text[to] === '<') depth++
      else if (text[to] === '>' && text[to - 1] !== '=') depth--
    }
    const mark = found[3] === 'OptionalShape' ? '?' : found[1]
    text = `${text.slice(0, found.index)}${mark}${found[2]}${text.slice(from, to - 1)}${text.slice(to)}`
  }
}

/** A long union gets a line for each of its members. */
function broken(text) {
  return text.length <= WIDTH ? text : text.replaceAll(' | ', '\n  | ')
}

function memberLines(child, find) {
  const readonly = child.flags.isReadonly ? 'readonly ' : ''
  const optional = child.flags.isOptional ? '?' : ''
  if (child.signatures) {
    return child.signatures.flatMap((signature) => {
      const text = declarationOf(signature, child.name, Number.POSITIVE_INFINITY)
      return item(withLinks(text, find), signature, find)
    })
  }
  const type = child.type ?? child.getSignature?.type
  const text = `${readonly}${child.name}${optional}: ${typeText(type)}`
  return item(withLinks(text, find), child.getSignature ?? child, find)
}

function item(text, { comment }, find) {
  const words = commentLines(comment, find).join('\n').trim()
  const rest = words === '' ? '' : `\n\n${words.replace(/^(?=.)/gm, '  ')}`
  return [`- ${text}${rest}`, '']
}

function parameterLines({ parameters = [] }, find) {
  const told = parameters.filter(({ comment }) => comment)
  return told.flatMap(({ name, comment }) => [
    `- \`${name}\`: ${commentLines(comment, find).join(' ').trim()}`,
    '',
  ])
}

/** The exports that a declaration names: nothing can be a link inside of code. */
function usedLines(texts, self, find) {
  const words = new Set(texts.join(' ').match(/[A-Za-z_$][\w$]*/g))
  const used = [...words].filter((word) => word !== self && find(word))
  return used.length === 0 ? [] : [`See ${used.map((word) => linked(word, find)).join(', ')}.`, '']
}

function commentLines(comment, find) {
  if (!comment) return []
  const words = (parts) =>
    parts
      .map((part) => partText(part, find))
      .join('')
      .trim()
  const lines = [words(comment.summary), '']
  for (const { tag, content } of comment.blockTags) {
    if (tag === '@example') lines.push('Example:', '', words(content), '')
    else if (tag === '@returns') lines.push(`Returns ${words(content)}`, '')
    else if (tag === '@throws') lines.push(`Throws ${words(content)}`, '')
  }
  return lines
}

/** Text and code as they are; `{@link Name}` leads to where the name is told of. */
function partText({ kind, text, target }, find) {
  if (kind !== 'inline-tag') return text
  const name = target?.name ?? text
  return find(name) ? linked(name, find) : `\`${text}\``
}

const fence = (text) => ['```ts', text, '```', '']
const linked = (word, find) => `[\`${word}\`](${find(word)})`

/** Code, with the names of exports as links. */
function withLinks(written, find) {
  let text = written
  for (const [union, name] of NAMED_UNIONS) text = text.replace(union, name)
  const parts = text.split(/([A-Za-z_$][\w$]*)/)
  let out = ''
  let code = ''
  const flush = () => {
    out += code === '' ? '' : `\`\` ${code} \`\``
    code = ''
  }
  parts.forEach((part, i) => {
    // What stands before a colon is the name of a member or a parameter.
    const isName = /^\??:/.test(parts[i + 1] ?? '')
    if (i % 2 === 1 && !isName && find(part)) {
      flush()
      out += linked(part, find)
    } else code += part
  })
  flush()
  return out
}
