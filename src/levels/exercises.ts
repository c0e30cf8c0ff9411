// An exercise for each level: a history that keeps it, and one small change after which it is
// broken while a weaker one still holds. One who finds it has seen what the level says and what it
// adds. Main table: EXERCISES.

import type { LevelId } from './levels.ts'

export interface Exercise {
  /** The one that the change breaks. */
  readonly level: LevelId
  readonly task: string
  /** In notation; not solved yet. */
  readonly start: string
  /** What may be changed: the value of one read, or the place of operations. */
  readonly change: 'value' | 'place'
  readonly holds: LevelId
  /** One way to do it. */
  readonly solution: string
}

export const EXERCISES: readonly Exercise[] = [
  {
    level: 'ci',
    task: 'Let one read see another value, so that the two no longer agree.',
    start: 's1: r(x,0) r(x,0)\ns2: w(x,1)',
    change: 'value',
    holds: 'rc',
    solution: 's1: r(x,0) r(x,1)\ns2: w(x,1)',
  },
  {
    level: 'rc',
    task: 'The last session sees half of another transaction, which rc allows. Move a read so that it goes back in time.',
    start: 's0: w(x,1)\ns1: r(x,1) w(x,2) w(y,2)\ns2: r(x,1) r(y,2)',
    change: 'place',
    holds: 'pl-2',
    solution: 's0: w(x,1)\ns1: r(x,1) w(x,2) w(y,2)\ns2: r(y,2) r(x,1)',
  },
  {
    level: 'ryw',
    task: 'Let one read see another value, so that a session forgets what it wrote.',
    start: 's1: r(x,0) w(x,1) | r(x,1)\ns2: r(x,1) | r(x,1)',
    change: 'value',
    holds: 'mr',
    solution: 's1: r(x,0) w(x,1) | r(x,0)\ns2: r(x,1) | r(x,1)',
  },
  {
    level: 'mr',
    task: 'Let one read see another value, so that a session goes back behind what it has read.',
    start: 's1: r(x,0) w(x,1) | r(x,1)\ns2: r(x,1) | r(x,1)',
    change: 'value',
    holds: 'ryw',
    solution: 's1: r(x,0) w(x,1) | r(x,1)\ns2: r(x,1) | r(x,0)',
  },
  {
    level: 'mw',
    task: 'The first session writes x, then y. Let one read see another value, so that the writes arrive in the other order.',
    start: 's1: w(x,1) | w(y,1)\ns2: r(y,1) r(x,1)',
    change: 'value',
    holds: 'ra',
    solution: 's1: w(x,1) | w(y,1)\ns2: r(y,1) r(x,0)',
  },
  {
    level: 'wfr',
    task: 'y is a reply to x. Let one read see another value, so that somebody sees the reply and then not the message.',
    start: 's1: w(x,1)\ns2: r(x,1) | w(y,1)\ns3: r(y,1) r(x,1)',
    change: 'value',
    holds: 'mw',
    solution: 's1: w(x,1)\ns2: r(x,1) | w(y,1)\ns3: r(y,1) r(x,0)',
  },
  {
    level: 'ra',
    task: 'The last session goes back in time, which even rc forbids. Move a read so that ra breaks but rc holds.',
    start: 's0: w(x,1)\ns1: r(x,1) w(x,2) w(y,2)\ns2: r(y,2) r(x,1)',
    change: 'place',
    holds: 'rc',
    solution: 's0: w(x,1)\ns1: r(x,1) w(x,2) w(y,2)\ns2: r(x,1) r(y,2)',
  },
  {
    level: 'cc',
    task: 'x caused y. Let one read see another value, so that somebody sees the effect without its cause.',
    start: 's1: w(x,1)\ns2: r(x,1) w(y,1)\ns3: r(y,1) r(x,1)',
    change: 'value',
    holds: 'ra',
    solution: 's1: w(x,1)\ns2: r(x,1) w(y,1)\ns3: r(y,1) r(x,0)',
  },
  {
    level: 'pc',
    task: 'Nothing says which of the two writes came first. Let one read see another value, so that two observers disagree about it.',
    start: 's1: w(x,1)\ns2: w(y,1)\ns3: r(x,1) r(y,0)\ns4: r(x,1) r(y,1)',
    change: 'value',
    holds: 'cc',
    solution: 's1: w(x,1)\ns2: w(y,1)\ns3: r(x,1) r(y,0)\ns4: r(x,0) r(y,1)',
  },
  {
    level: 'psi',
    task: 'Two observers disagree which of x and y came first, which psi allows. Let one read see another value, so that an update of x is lost.',
    start: 's1: r(x,0) w(x,1)\ns2: w(y,1)\ns3: r(x,1) r(y,0)\ns4: r(x,0) r(y,1)\ns5: r(x,1) w(x,2)',
    change: 'value',
    holds: 'cc',
    solution:
      's1: r(x,0) w(x,1)\ns2: w(y,1)\ns3: r(x,1) r(y,0)\ns4: r(x,0) r(y,1)\ns5: r(x,0) w(x,2)',
  },
  {
    level: 'si',
    task: 'Each adds one to x. Let one read see another value, so that an update is lost.',
    start: 's1: r(x,0) w(x,1)\ns2: r(x,1) w(x,2)',
    change: 'value',
    holds: 'pc',
    solution: 's1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)',
  },
  {
    level: 'strong-si',
    task: 'The last transaction begins when both others have ended. Let one of its reads miss that.',
    start:
      's1: r(y,0) w(x,1) [start=1 finish=4]\ns2: r(x,0) w(y,1) [start=2 finish=3]\ns3: r(x,1) r(y,1) [start=5 finish=6]',
    change: 'value',
    holds: 'si',
    solution:
      's1: r(y,0) w(x,1) [start=1 finish=4]\ns2: r(x,0) w(y,1) [start=2 finish=3]\ns3: r(x,1) r(y,0) [start=5 finish=6]',
  },
  {
    level: 'ser',
    task: 'One of two doctors may go home, if the other stays. Let one read see another value, so that both go.',
    start: 's1: r(x,0) r(y,0) w(x,1)\ns2: r(x,1) r(y,0) w(y,1)',
    change: 'value',
    holds: 'si',
    solution: 's1: r(x,0) r(y,0) w(x,1)\ns2: r(x,0) r(y,0) w(y,1)',
  },
  {
    level: 'ser+lin',
    task: 'The reader has seen y and not yet x, which was written earlier. Let one read see another value, so that somebody misses a key that was written before it began.',
    start:
      's1: w(x,1) [start=0 finish=1]\ns2: w(y,1) [start=2 finish=3]\ns3: r(x,0) r(y,1) [start=0 finish=4]\ns4: r(x,1) r(y,1) [start=5 finish=6]',
    change: 'value',
    holds: 'ser',
    solution:
      's1: w(x,1) [start=0 finish=1]\ns2: w(y,1) [start=2 finish=3]\ns3: r(x,0) r(y,1) [start=0 finish=4]\ns4: r(x,0) r(y,1) [start=5 finish=6]',
  },
  {
    level: 'sser',
    task: 'The second transaction begins when the first one has ended. Let its read miss that.',
    start: 's1: r(x,0) w(x,1) [start=1 finish=3]\ns2: r(x,1) [start=4 finish=6]',
    change: 'value',
    holds: 'ser',
    solution: 's1: r(x,0) w(x,1) [start=1 finish=3]\ns2: r(x,0) [start=4 finish=6]',
  },
  {
    level: 'lin',
    task: 'The compare-and-set has succeeded before anybody reads. Let a read miss it.',
    start: 's1: cas(x,0,1) [start=1 finish=2]\ns2: r(x,1) [start=3 finish=4]',
    change: 'value',
    holds: 'ser',
    solution: 's1: cas(x,0,1) [start=1 finish=2]\ns2: r(x,0) [start=3 finish=4]',
  },
  {
    level: 'stale',
    task: 'However stale a read may be, it never sees what begins only when it is over. Let one do so.',
    start: 's1: r(x,0) [start=1 finish=2]\ns2: w(x,1) [start=3 finish=4]',
    change: 'value',
    holds: 'rc',
    solution: 's1: r(x,1) [start=1 finish=2]\ns2: w(x,1) [start=3 finish=4]',
  },
  {
    level: 'mixed',
    task: 'Both asked for si. Let one read see another value, so that one of them does not get it.',
    start: 's1: r(x,0) w(x,1) [level=si]\ns2: r(x,1) w(x,2) [level=si]',
    change: 'value',
    holds: 'pc',
    solution: 's1: r(x,0) w(x,1) [level=si]\ns2: r(x,0) w(x,2) [level=si]',
  },
  {
    level: 'pl-1',
    task: 'Two append to the same lists. Let one read show that each came first in one of them.',
    start: 's1: append(x,1) append(y,1)\ns2: append(x,2) append(y,2)\ns3: r(x,[1,2]) r(y,[1,2])',
    change: 'value',
    holds: 'ci',
    solution: 's1: append(x,1) append(y,1)\ns2: append(x,2) append(y,2)\ns3: r(x,[1,2]) r(y,[2,1])',
  },
  {
    level: 'pl-2',
    task: 'The second rests on what the first one wrote. Let a read show the reverse as well.',
    start: 's1: r(x,0) w(y,1)\ns2: r(y,1) w(x,2)',
    change: 'value',
    holds: 'pl-1',
    solution: 's1: r(x,2) w(y,1)\ns2: r(y,1) w(x,2)',
  },
  {
    level: 'pl-cs',
    task: 'Let one read see another value, so that somebody replaces a version that it did not read.',
    start: 's1: r(stock,0) w(stock,1)\ns2: r(stock,1) w(stock,2)',
    change: 'value',
    holds: 'pl-2',
    solution: 's1: r(stock,0) w(stock,1)\ns2: r(stock,0) w(stock,2)',
  },
  {
    level: 'pl-2l',
    task: 'Let one read see another value, so that time runs backwards inside the last transaction.',
    start: 's0: w(x,1)\ns1: r(x,1) w(x,2) w(y,2)\ns2: r(y,2) r(x,2)',
    change: 'value',
    holds: 'pl-2',
    solution: 's0: w(x,1)\ns1: r(x,1) w(x,2) w(y,2)\ns2: r(y,2) r(x,1)',
  },
  {
    level: 'pl-2+',
    task: 'Let one read see another value, so that what the last one read does not belong together; time must not run backwards.',
    start: 's0: w(x,1)\ns1: r(x,1) w(x,2) w(y,2)\ns2: r(x,2) r(y,2)',
    change: 'value',
    holds: 'pl-2l',
    solution: 's0: w(x,1)\ns1: r(x,1) w(x,2) w(y,2)\ns2: r(x,1) r(y,2)',
  },
  {
    level: 'pl-3u',
    task: 'Those who write are serializable. Let one read see another value, so that they no longer are.',
    start: 's1: r(x,0) r(y,0) w(x,1)\ns2: r(x,1) r(y,0) w(y,1)',
    change: 'value',
    holds: 'pl-2+',
    solution: 's1: r(x,0) r(y,0) w(x,1)\ns2: r(x,0) r(y,0) w(y,1)',
  },
  {
    level: 'pl-2.99',
    task: 'Let one read see another value, so that two who only read disagree about who wrote first.',
    start: 's1: w(x,1)\ns2: w(y,1)\ns3: r(x,1) r(y,0)\ns4: r(x,1) r(y,1)',
    change: 'value',
    holds: 'pl-3u',
    solution: 's1: w(x,1)\ns2: w(y,1)\ns3: r(x,1) r(y,0)\ns4: r(x,0) r(y,1)',
  },
  {
    level: 'strong-session-pl-1',
    task: 'Let the list show what the first session appended in another order than it did so.',
    start: 's1: append(x,1) | append(x,2)\ns2: r(x,[1,2])',
    change: 'value',
    holds: 'pl-1',
    solution: 's1: append(x,1) | append(x,2)\ns2: r(x,[2,1])',
  },
  {
    level: 'strong-session-pl-2',
    task: 'Let a session read what it writes only in its next transaction.',
    start: 's1: r(x,0) | w(x,1)',
    change: 'value',
    holds: 'pl-2',
    solution: 's1: r(x,1) | w(x,1)',
  },
  {
    level: 'strong-pl-1',
    task: 'The first append was over when the second began. Let the list show them the other way round.',
    start:
      's1: append(x,1) [start=1 finish=2]\ns2: append(x,2) [start=3 finish=4]\ns3: r(x,[1,2]) [start=5 finish=6]',
    change: 'value',
    holds: 'strong-session-pl-1',
    solution:
      's1: append(x,1) [start=1 finish=2]\ns2: append(x,2) [start=3 finish=4]\ns3: r(x,[2,1]) [start=5 finish=6]',
  },
  {
    level: 'strong-pl-2',
    task: 'Let the first transaction read what was written only when it was over.',
    start: 's1: r(x,0) [start=1 finish=2]\ns2: w(x,1) [start=3 finish=4]',
    change: 'value',
    holds: 'strong-session-pl-2',
    solution: 's1: r(x,1) [start=1 finish=2]\ns2: w(x,1) [start=3 finish=4]',
  },
]
