// A result in words and pictures. Every renderer takes what `check` returned, and is loaded when it
// is used.

import type { ToldSchedule } from '../report/page/schedule.ts'
import { type CheckResult, expectResult } from './check-result.ts'
import { expectOptions, type Tests, WORD } from './options.ts'

/**
 * What renderers may be told.
 *
 * @example
 * await render.html(result, { title: 'nightly run' })
 */
export interface RenderOptions {
  /** What was checked, for headings. */
  title?: string
}

const RENDER_OPTIONS: Tests<RenderOptions> = { title: WORD }

/**
 * A result in words, pictures and files.
 *
 * @example
 * const result = await check(text, 'si')
 * const story = await render.text(result)
 * writeFileSync('report.html', await render.html(result))
 */
export const render = {
  /** The story for a terminal. */
  async text(result: CheckResult, options: RenderOptions = {}): Promise<string> {
    const { renderText } = await import('../report/text.ts')
    const { history, results } = expectResult(result)
    return renderText(history, results, expectOptions(options, RENDER_OPTIONS))
  },

  /** One page that needs nothing else. */
  async html(result: CheckResult, options: RenderOptions = {}): Promise<string> {
    return renderPage(result, options)
  },

  /** The verdict file. */
  async json(result: CheckResult, options: RenderOptions = {}): Promise<string> {
    const { stringify } = await import('../base/json.ts')
    return stringify(titled(result, options))
  },

  /** The first anomaly as a picture; one that says so if there is none. */
  async svg(result: CheckResult, options: RenderOptions = {}): Promise<string> {
    const { renderSvg } = await import('../report/picture/svg.ts')
    return renderSvg(titled(result, options))
  },

  /** The first anomaly for Graphviz. */
  async dot(result: CheckResult, options: RenderOptions = {}): Promise<string> {
    const { renderDot } = await import('../report/dot.ts')
    return renderDot(titled(result, options))
  },

  /** Markdown with Mermaid, for pull requests and summaries. */
  async markdown(result: CheckResult, options: RenderOptions = {}): Promise<string> {
    const { renderMarkdown } = await import('../report/markdown.ts')
    return renderMarkdown([titled(result, options)])
  },

  /** A JUnit file with a test for each level. */
  async junit(result: CheckResult, options: RenderOptions = {}): Promise<string> {
    const { renderJunit } = await import('../report/junit.ts')
    return renderJunit([titled(result, options)])
  },
}

/** The page of a result, with the schedule of a race if it was one. */
export async function renderPage(
  result: CheckResult,
  options: RenderOptions,
  schedule?: ToldSchedule,
): Promise<string> {
  const [{ renderHtml }, { loadPageAssets }] = await Promise.all([
    import('../report/page/html.ts'),
    import('../report/page/assets.ts'),
  ])
  return renderHtml(titled(result, options), await loadPageAssets(), { schedule })
}

function titled(result: CheckResult, options: RenderOptions) {
  const { title } = expectOptions(options, RENDER_OPTIONS)
  const verdict = expectResult(result).toJSON()
  return title === undefined ? verdict : { ...verdict, path: title }
}
