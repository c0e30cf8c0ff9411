// The page that teaches: every level, anomaly and small history of the glossary, judged when it is
// shown. The fragment of the address says which. Main class: LearnPage.

import {
  findTopic,
  type HistoryTopic,
  hyphened,
  nameOf,
  TOPICS,
  type Topic,
} from '../../levels/glossary.ts'
import { CHAIN, type LevelId } from '../../levels/levels.ts'
import { renderTopic } from '../../report/page/topic.ts'
import { addCopyButtons } from '../copy.ts'
import { goTo } from '../links.ts'
import { CheckWorker } from './check-worker.ts'
import { describeFailure } from './failure.ts'
import { encodeShared } from './share-link.ts'
import { showView } from './show-view.ts'
import { type JudgedTopic, judgeTopic } from './study.ts'

const FIRST = 'lost-update'

const find = (id: string) => document.getElementById(id)!
const idOf = (topic: Topic) => hyphened(nameOf(topic))

class LearnPage {
  /** For exercises, which come with an editor and can become anything. */
  private checker: CheckWorker | null = null
  /** For what can wait, so that it disturbs nobody. */
  private background: CheckWorker | null = null
  /** Anomaly or history -> the levels that forbid it, as far as judged. */
  private readonly forbidding = new Map<string, readonly LevelId[]>()
  private shown: Topic | null = null

  start(): void {
    const list = (kind: Topic['kind']) =>
      TOPICS.filter((topic) => topic.kind === kind).map((topic) => {
        const item = document.createElement('li')
        item.append(linkTo(topic))
        return item
      })
    find('level-list').append(...list('level'))
    find('anomaly-list').append(...list('anomaly'))
    find('case-list').append(...list('case'))
    addEventListener('hashchange', () => this.follow())
    this.follow()
  }

  /** A topic, or a finding of the one that is shown. */
  private follow(): void {
    const wanted = location.hash.slice(1)
    const topic = wanted === '' ? null : findTopic(wanted)
    if (topic === null && this.shown && wanted !== '') return goTo(wanted)
    this.show(topic ?? findTopic(FIRST)!).catch((error: unknown) => {
      const { message, hint } = describeFailure(error)
      find('judged').textContent = `${message} (hint: ${hint})`
    })
  }

  private async show(topic: Topic): Promise<void> {
    const isFirst = this.shown === null
    this.shown = topic
    for (const link of document.querySelectorAll<HTMLAnchorElement>('.topics a')) {
      if (link.hash === `#${idOf(topic)}`) link.setAttribute('aria-current', 'true')
      else link.removeAttribute('aria-current')
    }
    document.title = `${topic.kind === 'case' ? topic.entry.title : nameOf(topic)} · Isobar`
    this.write(topic, null)
    find('topic-more').replaceChildren()
    find('judged').textContent = ''
    delete find('judged').dataset['found']
    delete find('judged').dataset['topic']
    if (!isFirst) scrollTo({ top: find('topic').offsetTop - 16 })
    if (topic.kind === 'level') await this.showLevel(topic)
    else await this.showHistory(topic)
  }

  private write(topic: Topic, forbidding: readonly LevelId[] | null): void {
    const place = find('topic')
    place.innerHTML = renderTopic(topic, forbidding)
    addCopyButtons(place)
  }

  private async showHistory(topic: HistoryTopic): Promise<void> {
    const { name, history, level } = topic.entry
    const link = encodeShared({ text: history, levels: level === undefined ? null : [level] })
    const drawing = import('./topic-view.ts') // while it is judged
    const judged = await judgeTopic(topic) // a few milliseconds: starting a worker takes longer
    if (this.shown !== topic) return
    this.forbidding.set(name, judged.forbidding)
    this.write(topic, judged.forbidding)
    find('judged').textContent = tellFound(judged)
    find('judged').dataset['topic'] = name
    find('judged').dataset['found'] = judged.found.join(' ')
    const { viewTopic } = await drawing
    const view = await viewTopic(judged)
    if (this.shown !== topic) return
    await showView(find('topic-more'), view, ['findings'])
    const fragment = await link
    const open = document.getElementById('topic-open') as HTMLAnchorElement | null
    if (fragment !== null && open && this.shown === topic) open.href = `./index.html#${fragment}`
  }

  private async showLevel(topic: Topic & { kind: 'level' }): Promise<void> {
    const forbids = document.createElement('div')
    const place = document.createElement('div')
    place.className = 'exercise'
    find('topic-more').append(forbids, place)
    const { ExerciseView } = await import('./exercise.ts') // brings the editor
    this.checker ??= new CheckWorker()
    if (this.shown === topic) new ExerciseView(place, topic.entry.id, this.checker)
    if (CHAIN.includes(topic.entry.id)) await this.listForbidden(topic.entry.id, forbids)
  }

  /** The anomalies that this level is the first of the chain to forbid. */
  private async listForbidden(level: LevelId, place: HTMLElement): Promise<void> {
    const anomalies = TOPICS.filter((topic) => topic.kind === 'anomaly')
    this.background ??= new CheckWorker()
    for (const topic of anomalies) {
      const { name } = topic.entry
      if (this.forbidding.has(name) || this.background.isBusy) continue
      const answer = await this.background.ask({ kind: 'topic', name })
      if (answer?.kind === 'topic') this.forbidding.set(name, answer.forbidding)
    }
    const isFirst = ({ entry }: (typeof anomalies)[number]) => {
      const levels = this.forbidding.get(entry.name) ?? []
      return CHAIN.find((each) => levels.includes(each)) === level
    }
    const links = anomalies.filter(isFirst).map(linkTo)
    if (links.length === 0) return
    const heading = document.createElement('h2')
    heading.textContent = 'What it is the first to forbid'
    const line = document.createElement('p')
    line.append(...links.flatMap((link, i) => (i === 0 ? [link] : [', ', link])))
    place.replaceChildren(heading, line)
  }
}

function tellFound({ topic, found }: JudgedTopic): string {
  const now = 'Judged just now, in your browser:'
  if (found.length === 0) return `${now} every level allows it.`
  return topic.kind === 'anomaly' && !found.includes(topic.entry.name)
    ? `${now} found ${found.join(', ')}.`
    : `${now} ${found.join(' and ')} ${found.length > 1 ? 'were' : 'was'} found.`
}

function linkTo(topic: Topic): HTMLAnchorElement {
  const link = document.createElement('a')
  link.href = `#${idOf(topic)}`
  link.textContent = topic.kind === 'case' ? topic.entry.title : nameOf(topic)
  return link
}

find('starting').hidden = true
find('tool').hidden = false
new LearnPage().start()
