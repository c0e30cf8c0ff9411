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
import { type WorkloadRequest, workloadParameters } from './parameters.ts'
import type { Plan } from './plan.ts'

export function planWorkload(given: WorkloadRequest): Plan {
  const parameters = workloadParameters(given)
  switch (parameters.shape) {
    case 'general':
      return planGeneral(parameters)
    case 'mini':
      return planMini(parameters)
    case 'append':
      return planAppend(parameters)
    case 'churn':
      return planChurn(parameters)
    case 'aimed':
      return planAimed(parameters)
    case 'lwt':
      return planLightweight(parameters)
    case 'tpcc-kv':
      return planApplication(parameters, TPCC_KV)
    case 'twitter-kv':
      return planApplication(parameters, TWITTER_KV)
    case 'rubis':
      return planApplication(parameters, RUBIS)
  }
}
