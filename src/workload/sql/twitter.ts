// A social network after BenchBase's Twitter: most transactions read; about one in nine publishes a
// tweet, and that is the strong one. Tweets never change, but appear, so who asks for those of a
// user passes over the ones that came later.

import type { Random } from '../../base/random.ts'
import { add, insert, type SqlSteps, select, update } from '../../sql/statement.ts'
import type { SqlRow } from '../../sql/value.ts'
import { chooserOf, type KeyChooser } from '../distributions.ts'
import type { SqlParameters } from './parameters.ts'
import { integer, placeholders, type TransactionKind, table } from './plan.ts'

const USERS = table('users', { u_id: 'integer', u_name: 'text', u_tweets: 'integer' }, ['u_id'])

const FOLLOWS = table(
  'follows',
  { f_follower: 'integer', f_followed: 'integer', f_muted: 'boolean' },
  ['f_follower', 'f_followed'],
)

const TWEETS = table('tweets', { t_id: 'integer', t_user: 'integer', t_text: 'text' }, ['t_id'])

export const TWITTER_TABLES = [USERS, FOLLOWS, TWEETS] as const

/** Tweets of each user at first. */
const FIRST_TWEETS = 2
/** How many others a user follows at most. */
const MAX_FOLLOWED = 4
const WORDS = ['good morning', 'so it begins', 'what a day', 'nobody knew', 'read this', 'no words']

export const TWITTER: readonly TransactionKind<TwitterChoices>[] = [
  { name: 'get tweet', weight: 10, isStrong: false, run: getTweet },
  { name: 'get tweets of those followed', weight: 15, isStrong: false, run: getFollowedTweets },
  { name: 'get followers', weight: 24, isStrong: false, run: getFollowers },
  { name: 'get tweets of a user', weight: 40, isStrong: false, run: getUserTweets },
  { name: 'publish', weight: 11, isStrong: true, run: publish },
]

export class TwitterChoices {
  readonly firstTweets: number
  private readonly users: KeyChooser

  constructor(parameters: SqlParameters) {
    this.firstTweets = parameters.keys * FIRST_TWEETS
    this.users = chooserOf(parameters.distribution, parameters.keys)
  }

  user(random: Random): bigint {
    return BigInt(1 + this.users.next(random))
  }

  /** The tweet that a transaction publishes: no other has that number. */
  tweetOf(number: number): bigint {
    return BigInt(this.firstTweets + 1 + number)
  }
}

/** table -> the rows it holds at first. */
export function twitterRows(parameters: SqlParameters, random: Random): SqlRow[][] {
  const { keys: userCount } = parameters
  const users: SqlRow[] = []
  const follows: SqlRow[] = []
  const tweets: SqlRow[] = []
  for (let user = 1; user <= userCount; user++) {
    users.push([BigInt(user), `user${user}`, BigInt(FIRST_TWEETS)])
    const followed = new Set<number>()
    for (let i = random.below(MAX_FOLLOWED + 1); i > 0; i--) followed.add(random.below(userCount))
    for (const other of followed) {
      if (other + 1 !== user) follows.push([BigInt(user), BigInt(other + 1), random.chance(0.1)])
    }
    for (let i = 0; i < FIRST_TWEETS; i++) {
      tweets.push([BigInt(tweets.length + 1), BigInt(user), random.pick(WORDS)])
    }
  }
  return [users, follows, tweets]
}

/** One of those that were there at first, or one that may have been published by now. */
function* getTweet(choices: TwitterChoices, random: Random, number: number): SqlSteps {
  const isOld = random.chance(0.5)
  const tweet = isOld ? BigInt(1 + random.below(choices.firstTweets)) : null
  yield select('tweets', 't_id = $1', tweet ?? choices.tweetOf(random.below(number + 1)))
  return 'commit'
}

function* getFollowedTweets(choices: TwitterChoices, random: Random): SqlSteps {
  const user = choices.user(random)
  const followed = yield select('follows', 'f_follower = $1 AND NOT f_muted', user)
  if (followed.length === 0) return 'commit'
  const users = followed.map((row) => integer(row, FOLLOWS.at.f_followed))
  yield select('tweets', `t_user IN (${placeholders(0, users)})`, ...users)
  return 'commit'
}

function* getFollowers(choices: TwitterChoices, random: Random): SqlSteps {
  const rows = yield select('follows', 'f_followed = $1', choices.user(random))
  if (rows.length === 0) return 'commit'
  const users = rows.map((row) => integer(row, FOLLOWS.at.f_follower))
  yield select('users', `u_id IN (${placeholders(0, users)})`, ...users)
  return 'commit'
}

function* getUserTweets(choices: TwitterChoices, random: Random): SqlSteps {
  yield select('tweets', 't_user = $1', choices.user(random))
  return 'commit'
}

function* publish(choices: TwitterChoices, random: Random, number: number): SqlSteps {
  const user = choices.user(random)
  const [found] = yield select('users', 'u_id = $1', user)
  if (!found) return 'abort'
  yield insert('tweets', [choices.tweetOf(number), user, random.pick(WORDS)])
  yield update('users', { u_tweets: add(1n) }, 'u_id = $1', user)
  return 'commit'
}
