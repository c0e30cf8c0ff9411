// `isobar check --elle`: judges all of Jepsen's models and tells the outcome as Elle does.

import type { Deadline } from '../base/deadline.ts'
import { UsageError } from '../base/errors.ts'
import { stringify } from '../base/json.ts'
import { hintFor } from '../base/slips.ts'
import { checkModels } from '../check/check.ts'
import type { CheckOptions } from '../check/options.ts'
import type { History } from '../history/history.ts'
import { findJepsenModel, JEPSEN_MODELS, type JepsenModel } from '../levels/jepsen.ts'
import { refuseSingleObject } from '../levels/words.ts'
import { ednToJson, renderEdn } from '../report/edn.ts'
import { describeElle } from '../report/elle.ts'
import type { LevelResult } from '../verdict/verdict.ts'

export interface EllePlan {
  readonly json: boolean
  readonly asked: readonly JepsenModel[]
}

/** Whether what follows --elle is a syntax, and not the first of the paths. */
export function isElleSyntax(text: string | boolean): boolean {
  return text === true || text === 'edn' || text === 'json'
}

/** @param syntax of --elle: true if it was given without one */
export function parseElle(syntax: string | boolean, level: string | undefined): EllePlan {
  const names = (level ?? 'strict-serializable').split(',').map((name) => name.trim())
  return { json: syntax === 'json', asked: names.filter((name) => name !== '').map(parseModel) }
}

/** A model by Jepsen's name, or by our id of the level, which includes session order. */
function parseModel(name: string): JepsenModel {
  const ours = JEPSEN_MODELS.find((model) => model.sessionOrder && model.level === name)
  const model = findJepsenModel(name) ?? ours
  if (model) return model
  refuseSingleObject(name)
  const known = JEPSEN_MODELS.map((each) => each.name)
  throw new UsageError(`unknown model ${JSON.stringify(name)}`, hintFor(name, known))
}

export function judgeElle(
  history: History,
  plan: EllePlan,
  options: CheckOptions,
  deadline: Deadline,
): { asked: LevelResult[]; text: string } {
  if (history.sql) {
    const hint = 'ask without --elle: --level mixed'
    throw new UsageError('Elle knows registers and lists, not SQL statements', hint)
  }
  const results = checkModels(history, options)
  const described = describeElle(history, plan.asked, results, deadline)
  const text = plan.json ? stringify(ednToJson(described) as object) : renderEdn(described)
  const asked = plan.asked.map((model) => results[JEPSEN_MODELS.indexOf(model)]!)
  return { asked, text: `${text}\n` }
}
