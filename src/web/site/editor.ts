// The editor for histories: CodeMirror with the notation's words, errors at their place, and undo.
// It stands in a shadow root, where its styles need no leave of the content policy. Main class:
// HistoryEditor.

import { autocompletion, type CompletionContext, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { lintGutter, setDiagnostics } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import {
  Decoration,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  MatchDecorator,
  ViewPlugin,
} from '@codemirror/view'
import type { Place } from '../../base/errors.ts'
import { completionsAt } from './completions.ts'
import { lineCompletionsAt } from './line-completions.ts'

const WORDS = new MatchDecorator({
  regexp: /#.*$|\b(r|range|rows)(?=\()|\b(w|append|inc|cas|insert)(?=\()|\[[a-z][^\]()]*\]/g,
  decoration: (match) => {
    if (match[0].startsWith('#')) return Decoration.mark({ class: 'comment' })
    if (match[1]) return Decoration.mark({ class: 'read' })
    return Decoration.mark({ class: match[2] ? 'write' : 'said' })
  },
})

const colouring = ViewPlugin.define(
  (view) => ({
    words: WORDS.createDeco(view),
    update(update) {
      this.words = WORDS.updateDeco(update, this.words)
    },
  }),
  { decorations: (plugin) => plugin.words },
)

/** Colours are those of the page around it. */
const THEME = EditorView.theme({
  '&': {
    color: 'var(--text)',
    backgroundColor: 'var(--ground)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    fontSize: '0.95rem',
  },
  '&.cm-focused': { outline: '2px solid var(--link)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', minHeight: '9rem', maxHeight: '26rem' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-gutters': {
    color: 'var(--faint)',
    backgroundColor: 'var(--panel)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '.cm-tooltip': {
    color: 'var(--text)',
    backgroundColor: 'var(--panel)',
    border: '1px solid var(--line)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    color: 'var(--ground)',
    backgroundColor: 'var(--link)',
  },
  '.cm-completionDetail': { fontStyle: 'normal', marginLeft: '1em' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad)',
  },
  '.cm-lintPoint-error:after': { borderBottomColor: 'var(--bad)' },
  '.cm-lint-marker-error': { content: '"✗"', color: 'var(--bad)' },
  '.comment': { color: 'var(--faint)' },
  '.read': { color: 'var(--link)' },
  '.write': { color: 'var(--unsure)', fontWeight: '600' },
  '.said': { color: 'var(--event)' },
})

export interface EditorOptions {
  readonly text: string
  /** What it is, for those who do not see it. */
  readonly label: string
  readonly onChange: (text: string) => void
}

export class HistoryEditor {
  private readonly view: EditorView

  constructor(place: HTMLElement, { text, label, onChange }: EditorOptions) {
    const root = place.attachShadow({ mode: 'open' })
    const state = EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        highlightActiveLine(),
        lintGutter(),
        autocompletion({ override: [complete], icons: false }),
        keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
        colouring,
        THEME,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString())
        }),
      ],
    })
    this.view = new EditorView({ state, parent: root, root })
  }

  get text(): string {
    return this.view.state.doc.toString()
  }

  /** Puts a text in place of all; it can be undone. */
  replace(text: string): void {
    this.change(0, this.view.state.doc.length, text)
  }

  change(from: number, to: number, insert: string): void {
    this.view.dispatch({ changes: { from, to, insert }, userEvent: 'input' })
  }

  focus(): void {
    this.view.focus()
  }

  /** Marks the place of an error; null takes the mark away. */
  mark(error: { place: Place | null; message: string } | null): void {
    const { state } = this.view
    const diagnostics = error?.place
      ? [{ ...rangeAt(state, error.place), severity: 'error' as const, message: error.message }]
      : []
    this.view.dispatch(setDiagnostics(state, diagnostics))
  }
}

/** The word at a place. */
function rangeAt(state: EditorState, { line, column }: Place): { from: number; to: number } {
  const found = state.doc.line(Math.min(Math.max(1, line), state.doc.lines))
  const from = Math.min(found.to, found.from + Math.max(0, column - 1))
  const word = /^(\w+|.)/.exec(state.sliceDoc(from, found.to))
  return { from, to: from + (word?.[0].length ?? 0) }
}

function complete(context: CompletionContext) {
  const line = context.state.doc.lineAt(context.pos)
  const before = line.text.slice(0, context.pos - line.from)
  const found = /^\s*\{/.test(before) ? lineCompletionsAt(before) : completionsAt(before)
  if (!found || (found.length === 0 && !context.explicit)) return null
  return { from: context.pos - found.length, options: [...found.options] }
}
