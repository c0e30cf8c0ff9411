// RUBiS, an auction like eBay, as reads and writes of keys: 200,000 items unless told and a tenth
// as many users; 85 % of the transactions only look, as in its mix for bidding. Popular items are
// looked at and bid for more often (a zipf distribution).

import type { Random } from '../../base/random.ts'
import { chooserOf, type KeyChooser } from '../distributions.ts'
import type { Application, Rows } from './application.ts'

const CATEGORIES = 20
const REGIONS = 62
/** Items on a page. */
const MOST_SHOWN = 6

export const RUBIS: Application = (rows, random, items) => {
  const auction = new Auction(rows, random, items)
  return [
    { share: 40, perform: () => auction.browse() },
    { share: 30, perform: () => auction.viewItem() },
    { share: 15, perform: () => auction.viewUser() },
    { share: 9, perform: () => auction.bid() },
    { share: 1.5, perform: () => auction.buyNow() },
    { share: 1.5, perform: () => auction.comment() },
    { share: 2, perform: () => auction.offer() },
    { share: 1, perform: () => auction.register() },
  ]
}

class Auction {
  private readonly categories: number
  private readonly regions: number
  private readonly items: number[] = []
  private readonly sellers: number[] = [] // of the items
  private readonly lastBid: number[] = [] // of the items; -1 for none
  private readonly users: number[] = []
  private readonly popular: KeyChooser

  constructor(
    private readonly rows: Rows,
    private readonly random: Random,
    itemCount: number,
  ) {
    const userCount = Math.max(1, Math.round(itemCount / 10))
    this.categories = rows.table(CATEGORIES)
    this.regions = rows.table(REGIONS)
    const firstUser = rows.table(userCount)
    for (let i = 0; i < userCount; i++) this.users.push(firstUser + i)
    const firstItem = rows.table(itemCount)
    for (let i = 0; i < itemCount; i++) this.addItem(firstItem + i, this.user())
    this.popular = chooserOf('zipfian', itemCount)
  }

  browse(): void {
    const { rows, random } = this
    const isByRegion = random.chance(0.3)
    rows.read(isByRegion ? this.regions + random.below(REGIONS) : this.category())
    for (let left = 1 + random.below(MOST_SHOWN); left > 0; left--) {
      rows.read(this.items[this.item()]!)
    }
  }

  viewItem(): void {
    const item = this.item()
    this.rows.read(this.items[item]!)
    this.rows.read(this.sellers[item]!)
    if (this.lastBid[item]! >= 0) this.rows.read(this.lastBid[item]!)
  }

  viewUser(): void {
    this.rows.read(this.user())
    this.rows.read(this.items[this.item()]!)
  }

  bid(): void {
    const { rows } = this
    const item = this.item()
    rows.read(this.user())
    rows.change(this.items[item]!)
    if (this.lastBid[item]! >= 0) rows.read(this.lastBid[item]!)
    this.lastBid[item] = rows.make()
  }

  buyNow(): void {
    this.rows.read(this.user())
    this.rows.change(this.items[this.item()]!)
    this.rows.make()
  }

  comment(): void {
    this.rows.read(this.user())
    this.rows.change(this.sellers[this.item()]!)
    this.rows.make()
  }

  offer(): void {
    const seller = this.user()
    this.rows.read(seller)
    this.rows.change(this.category())
    this.addItem(this.rows.make(), seller)
  }

  register(): void {
    this.rows.change(this.regions + this.random.below(REGIONS))
    this.users.push(this.rows.make())
  }

  private addItem(row: number, seller: number): void {
    this.items.push(row)
    this.sellers.push(seller)
    this.lastBid.push(-1)
  }

  private category(): number {
    return this.categories + this.random.below(CATEGORIES)
  }

  private user(): number {
    return this.random.pick(this.users)
  }

  /** Mostly a popular one; now and then any, new ones too. */
  private item(): number {
    const isAny = this.random.chance(0.2)
    return isAny ? this.random.below(this.items.length) : this.popular.next(this.random)
  }
}
