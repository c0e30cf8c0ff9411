// A social network as reads and writes of keys, in the shares of Retwis: new users (5 %), following
// and not any more (15 %), tweets (30 %), timelines (50 %). Users are 1,000 at first unless told,
// chosen by a zipf distribution.

import type { Random } from '../../base/random.ts'
import { chooserOf, type KeyChooser } from '../distributions.ts'
import type { Application, Rows } from './application.ts'

/** Tweets on a timeline. */
const MOST_SHOWN = 10

/** The rows of a user. */
interface User {
  readonly profile: number
  readonly followed: number
  readonly followers: number
  readonly timeline: number
}

export const TWITTER_KV: Application = (rows, random, users) => {
  const network = new Network(rows, random, users)
  return [
    { share: 5, perform: () => network.addUser() },
    { share: 15, perform: () => network.follow() },
    { share: 30, perform: () => network.tweet() },
    { share: 50, perform: () => network.showTimeline() },
  ]
}

class Network {
  private readonly users: User[] = []
  private readonly tweets: number[][] = [] // user -> the last tweets, newest last
  private readonly chooser: KeyChooser
  private readonly counter: number // how many users there are

  constructor(
    private readonly rows: Rows,
    private readonly random: Random,
    users: number,
  ) {
    this.chooser = chooserOf('zipfian', users)
    this.counter = rows.table(1)
    const first = rows.table(4 * users)
    for (let user = 0; user < users; user++) {
      const profile = first + 4 * user
      this.join({ profile, followed: profile + 1, followers: profile + 2, timeline: profile + 3 })
    }
  }

  addUser(): void {
    const { rows } = this
    rows.change(this.counter)
    const profile = rows.make()
    const followed = rows.make()
    const followers = rows.make()
    const timeline = rows.make()
    this.join({ profile, followed, followers, timeline })
  }

  /** Or does not follow any more: the same rows. */
  follow(): void {
    this.rows.change(this.users[this.user()]!.followed)
    this.rows.change(this.users[this.user()]!.followers)
  }

  tweet(): void {
    const { rows } = this
    const author = this.user()
    const { profile, followers, timeline } = this.users[author]!
    rows.change(profile)
    rows.read(followers)
    const tweet = rows.make()
    rows.change(timeline)
    const last = this.tweets[author]!
    last.push(tweet)
    if (last.length > MOST_SHOWN) last.shift()
    // It comes to the timeline of one who follows.
    rows.change(this.users[this.user()]!.timeline)
  }

  showTimeline(): void {
    const { rows } = this
    const user = this.user()
    rows.read(this.users[user]!.timeline)
    const { length } = this.tweets[user]!
    const shown = this.random.below(Math.min(length, MOST_SHOWN - 1) + 1)
    for (let i = length - shown; i < length; i++) rows.read(this.tweets[user]![i]!)
  }

  private join(user: User): void {
    this.users.push(user)
    this.tweets.push([])
  }

  /** The newest users are nobody's favourites, but are seen now and then. */
  private user(): number {
    const isNew = this.random.chance(0.05)
    return isNew ? this.random.below(this.users.length) : this.chooser.next(this.random)
  }
}
