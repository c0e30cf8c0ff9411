// The page where histories are checked: written in the editor, dropped or opened as files, or
// carried by the link. What is written is judged as it is typed. Main class: CheckPage.

import type { InputError } from '../../base/errors.ts'
import { LEVELS } from '../../levels/levels.ts'
import { followLinks } from '../links.ts'
import { CheckWorker } from './check-worker.ts'
import { HistoryEditor } from './editor.ts'
import { MendingView } from './mending.ts'
import type { Checked, Download, Failed, Progress, Source } from './protocol.ts'
import { decodeShared, encodeShared } from './share-link.ts'
import { showView } from './show-view.ts'

const FIRST = [
  '# Two sessions read x, and each writes what follows from it.',
  's1: r(x,0) w(x,1)',
  's2: r(x,0) w(x,2)',
  '',
].join('\n')
const TYPING_MS = 150 // of rest before what was typed is judged
const MAX_LIVE = 50_000 // characters that are judged as they are typed
const MAX_EDITED = 200_000 // bytes of a file that goes into the editor
const PATIENCE_MS = 250 // before progress is shown

const find = <Kind extends HTMLElement = HTMLElement>(id: string) =>
  document.getElementById(id) as Kind

class CheckPage {
  private readonly checker = new CheckWorker()
  private readonly editor: HistoryEditor
  private readonly result = find('result')
  private readonly status = find('status')
  private readonly problem = find('problem')
  private readonly mending: MendingView
  private typing: ReturnType<typeof setTimeout> | undefined
  /** Files that are too large for the editor, or not to be read by people. */
  private files: readonly File[] | null = null

  constructor(text: string, levels: readonly string[] | null) {
    this.addLevels(levels)
    this.editor = new HistoryEditor(find('editor'), {
      text,
      label: 'The history, in notation or any text format',
      onChange: () => this.typed(),
    })
    this.mending = new MendingView(find('mending'), this.checker, ({ from, to, insert }) => {
      this.editor.change(from, to, insert)
      this.editor.focus()
    })
    find('check').addEventListener('click', () => this.check())
    find('cancel').addEventListener('click', () => this.cancel())
    find('close-files').addEventListener('click', () => this.closeFiles())
    find('share').addEventListener('click', () => this.share())
    find('levels').addEventListener('change', () => this.check())
    for (const button of document.querySelectorAll<HTMLElement>('[data-download]')) {
      button.addEventListener('click', () => this.download(button.dataset['download'] as Download))
    }
    this.listenForFiles()
    addEventListener('hashchange', () => this.openLink())
  }

  private addLevels(chosen: readonly string[] | null): void {
    const boxes = LEVELS.map(({ id, name, meaning }) => {
      const label = document.createElement('label')
      const box = document.createElement('input')
      box.type = 'checkbox'
      box.value = id
      box.checked = chosen?.includes(id) ?? false
      label.title = `${name}: ${meaning}`
      label.append(box, ` ${id}`)
      return label
    })
    find('levels').append(...boxes)
  }

  private get levels(): string[] | null {
    const boxes = find('levels').querySelectorAll<HTMLInputElement>('input:checked')
    return boxes.length === 0 ? null : [...boxes].map((box) => box.value)
  }

  private listenForFiles(): void {
    const input = find<HTMLInputElement>('file')
    find('open').addEventListener('click', () => input.click())
    input.addEventListener('change', () => {
      void this.take([...(input.files ?? [])])
      input.value = ''
    })
    addEventListener('dragover', (event) => {
      event.preventDefault()
      document.body.classList.add('dropping')
    })
    addEventListener('dragleave', (event) => {
      if (event.relatedTarget === null) document.body.classList.remove('dropping')
    })
    // On its way down, before the editor takes it for text.
    addEventListener(
      'drop',
      (event) => {
        document.body.classList.remove('dropping')
        const files = [...(event.dataTransfer?.files ?? [])]
        if (files.length === 0) return
        event.preventDefault()
        event.stopPropagation()
        void this.take(files)
      },
      true,
    )
  }

  /** Small texts go into the editor, everything else is checked as it is. */
  private async take(files: readonly File[]): Promise<void> {
    const [only] = files
    if (!only) return
    const text = files.length === 1 && only.size <= MAX_EDITED ? await readText(only) : null
    if (text !== null) {
      this.closeFiles()
      this.editor.replace(text)
      return this.check()
    }
    this.files = files
    const bytes = files.reduce((sum, file) => sum + file.size, 0)
    const name = files.length === 1 ? only.name : `${files.length} files`
    find('file-name').textContent = `${name}, ${tellBytes(bytes)}`
    find('files').hidden = false
    find('written').hidden = true
    await this.check()
  }

  private closeFiles(): void {
    this.files = null
    find('files').hidden = true
    find('written').hidden = false
  }

  private typed(): void {
    clearTimeout(this.typing)
    this.mending.hide() // what it knows are edits of another text
    this.editor.mark(null)
    if (this.editor.text.length > MAX_LIVE) return
    this.typing = setTimeout(() => this.check(), TYPING_MS)
  }

  async check(): Promise<void> {
    clearTimeout(this.typing)
    const source: Source = this.files
      ? { kind: 'files', files: this.files }
      : { kind: 'text', name: 'history', text: this.editor.text }
    const patience = setTimeout(() => this.showBusy(true), this.files ? 0 : PATIENCE_MS)
    const request = { kind: 'check', source, levels: this.levels } as const
    const answer = await this.checker.ask(request, (progress) => this.tell(progress))
    clearTimeout(patience)
    if (answer === null) return
    this.showBusy(false)
    if (answer.kind === 'checked') {
      // Edits are offered of what stands there, not of what stood there when it was asked.
      const isThere = source.kind === 'text' && source.text === this.editor.text
      this.mending.offer(isThere ? source.text : null, answer)
      await this.show(answer)
    } else if (answer.kind === 'failed') this.complain(answer)
  }

  private cancel(): void {
    this.checker.cancel()
    this.showBusy(false)
    this.clear()
    this.status.textContent = 'Cancelled.'
  }

  private showBusy(isBusy: boolean): void {
    find('busy').hidden = !isBusy
    if (isBusy) this.tell({ words: 'starting', share: null })
  }

  private tell({ words, share }: Progress): void {
    find('phase').textContent = share === null ? words : `${words}: ${Math.round(share * 100)}%`
    const bar = find<HTMLProgressElement>('progress')
    if (share === null) bar.removeAttribute('value')
    else bar.value = share
  }

  private async show({ view }: Checked): Promise<void> {
    this.problem.hidden = true
    this.editor.mark(null)
    this.status.textContent = view.title
    find('downloads').hidden = false
    this.result.hidden = false
    await showView(this.result, view)
    this.result.dataset['shown'] = String(Number(this.result.dataset['shown'] ?? 0) + 1)
  }

  private clear(): void {
    this.result.hidden = true
    this.result.replaceChildren()
    this.mending.hide()
    find('downloads').hidden = true
    this.problem.hidden = true
  }

  private complain({ message, hint, place }: Failed): void {
    this.clear()
    const where = place ? `line ${place.line}, column ${place.column}: ` : ''
    this.problem.textContent = `${where}${message}${hint ? ` (hint: ${hint})` : ''}`
    this.problem.hidden = false
    this.status.textContent = ''
    if (!this.files) this.editor.mark({ place, message })
  }

  private async download(what: Download): Promise<void> {
    const answer = await this.checker.ask({ kind: 'download', what })
    if (answer?.kind === 'failed') return this.complain(answer)
    if (answer?.kind !== 'file') return
    const link = document.createElement('a')
    link.href = URL.createObjectURL(answer.blob)
    link.download = answer.name
    link.click()
    URL.revokeObjectURL(link.href)
  }

  private async share(): Promise<void> {
    const said = find('shared')
    const text = this.editor.text
    const fragment = this.files ? null : await encodeShared({ text, levels: this.levels })
    if (fragment === null) {
      said.textContent = 'The history is too large for a link: send it as a file.'
      return
    }
    window.history.replaceState(null, '', `#${fragment}`)
    try {
      await navigator.clipboard.writeText(location.href)
      said.textContent = 'The link is copied. The history is in the link itself.'
    } catch {
      said.textContent = 'The address of this page is now the link: copy it from there.'
    }
  }

  /** A link that was followed while the page was open. */
  private async openLink(): Promise<void> {
    const shared = await readLink()
    if (shared === null) return
    if ('problem' in shared) return this.complain(shared.problem)
    this.closeFiles()
    for (const box of find('levels').querySelectorAll('input')) {
      box.checked = shared.levels?.includes(box.value) ?? false
    }
    this.editor.replace(shared.text)
  }

  async begin(problem: Failed | null): Promise<void> {
    if (problem) this.complain(problem)
    else await this.check()
  }
}

async function readLink() {
  try {
    return await decodeShared(location.hash)
  } catch (error) {
    const { message, hint } = error as InputError
    const problem: Failed = { kind: 'failed', message, hint, place: null }
    return { problem }
  }
}

/** The text of a file; null if it is no text. */
async function readText(file: File): Promise<string | null> {
  try {
    const bytes = await file.arrayBuffer()
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return text.includes('\0') ? null : text
  } catch {
    return null
  }
}

function tellBytes(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}

async function start(): Promise<void> {
  const missing = ['Worker', 'DecompressionStream'].filter((name) => !(name in globalThis))
  if (missing.length > 0) {
    const way = 'use a newer one, or the command line: isobar check FILE'
    find('starting').textContent = `This browser has no ${missing.join(', ')}: ${way}.`
    return
  }
  const shared = await readLink()
  const given = shared !== null && !('problem' in shared) ? shared : null
  const page = new CheckPage(given?.text ?? FIRST, given?.levels ?? null)
  find('starting').hidden = true
  find('tool').hidden = false
  followLinks()
  await page.begin(shared !== null && 'problem' in shared ? shared.problem : null)
}

void start()
