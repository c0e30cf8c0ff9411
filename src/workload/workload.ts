// From parameters to a plan: the same parameters and seed give the same plan, on any machine.

import { planAimed } from './aimed.ts'
import { planAppend } from './append.ts'
import { planApplication } from './applications/application.ts'
import { RUBIS } from './applications/rubis.ts'
import { TPCC_KV } from './applications/tpcc-kv.ts'
import { TWITTER_KV } from './applications/twitter-kv.ts'
import { planChurn } from './churn.ts'
import { planGeneral } from './general.ts'
import { planLightweight } from './lwt.ts'
import { planMini } from './mini.ts'
import {
  type Shape,
  type WorkloadParameters,
  type WorkloadRequest,
  workloadParameters,
} from './parameters.ts'
import type { Plan } from './plan.ts'

const PLANNERS: Record<Shape, (parameters: WorkloadParameters) => Plan> = {
  general: planGeneral,
  mini: planMini,
  append: planAppend,
  churn: planChurn,
  aimed: planAimed,
  lwt: planLightweight,
  'tpcc-kv': (parameters) => planApplication(parameters, TPCC_KV),
  'twitter-kv': (parameters) => planApplication(parameters, TWITTER_KV),
  rubis: (parameters) => planApplication(parameters, RUBIS),
}

export function planWorkload(given: WorkloadRequest): Plan {
  const parameters = workloadParameters(given)
  return PLANNERS[parameters.shape](parameters)
}
