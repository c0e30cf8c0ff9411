// What the page and its worker say to each other. Every request has a number, which its answers
// bear.

import type { Place } from '../../base/errors.ts'
import type { LevelId } from '../../levels/levels.ts'
import type { DifferShape } from '../../pipeline/differ/shapes.ts'
import type { ReportView } from '../../report/page/view.ts'
import type { Outcome } from '../../verdict/verdict.ts'
import type { Edit } from './single-edits.ts'

/** A history as somebody hands it over. */
export type Source =
  | { readonly kind: 'text'; readonly name: string; readonly text: string }
  | { readonly kind: 'files'; readonly files: readonly File[] }

/** What can be had of the history that was checked last. */
export type Download = 'verdict' | 'report' | 'history'

export type Request =
  | {
      readonly kind: 'check'
      readonly source: Source
      /** null: every level that applies. */
      readonly levels: readonly string[] | null
    }
  | { readonly kind: 'download'; readonly what: Download }
  /** An anomaly of the glossary, by its name. */
  | { readonly kind: 'topic'; readonly name: string }
  /** Which single edits of a text in notation make a level hold? */
  | { readonly kind: 'mending'; readonly text: string; readonly level: string }
  /** Where do two levels differ? */
  | {
      readonly kind: 'differ'
      readonly a: string
      readonly b: string
      readonly shape: DifferShape
    }

export interface Progress {
  /** What is done, in a few words. */
  readonly words: string
  /** How much of it, from 0 to 1, where that is known. */
  readonly share: number | null
}

/** A verdict, and how it looks. */
export interface Checked {
  readonly kind: 'checked'
  readonly view: ReportView
  readonly outcomes: readonly (readonly [LevelId, Outcome])[]
  /** The id of the format that it was read from. */
  readonly format: string
}

export interface FileMade {
  readonly kind: 'file'
  readonly name: string
  readonly blob: Blob
}

/** Which levels forbid what the glossary tells of. */
export interface TopicJudged {
  readonly kind: 'topic'
  readonly forbidding: readonly LevelId[]
}

export interface Mending {
  readonly kind: 'mending'
  readonly level: LevelId
  readonly edits: readonly Edit[]
  /** How many of all single edits were judged. */
  readonly tried: number
  readonly count: number
}

/** The smallest history that one level allows and another forbids. */
export interface DifferenceShown {
  readonly allowedBy: LevelId
  readonly forbiddenBy: LevelId
  /** In notation, or as native lines; null if there is none, or none was found. */
  readonly text: string | null
  readonly view: ReportView | null
  readonly isImplied: boolean
  /** Up to how many operations all were judged in vain. */
  readonly searched: number
  readonly judged: number
}

export interface Differences {
  readonly kind: 'differences'
  readonly found: readonly DifferenceShown[]
}

/** The input is bad, or too large for this browser. */
export interface Failed {
  readonly kind: 'failed'
  readonly message: string
  readonly hint: string | null
  /** Where in the text. */
  readonly place: Place | null
}

export type Answer = Checked | FileMade | TopicJudged | Mending | Differences | Failed

/** What the worker sends. */
export interface Told {
  readonly id: number
  readonly answer?: Answer
  readonly progress?: Progress
}
