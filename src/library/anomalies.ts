// The kinds of anomalies, for programs that ask: apart from the table, so that who does not ask
// need not load it before a history is judged. Main table: ANOMALIES.

import { type AnomalyKind, ANOMALIES as KINDS } from '../levels/anomalies.ts'

/** All kinds of anomalies that a verdict may name. */
export const ANOMALIES: readonly AnomalyKind[] = KINDS
