// Names of prepared statements on one connection. A statement that is sent with another text than
// the application's needs another name, so the driver can no longer see that the application gives
// one name to two texts, which is an error: that is seen here. Main class: PreparedNames.

import { obtain } from '../../base/maps.ts'
import type { DriverClient, DriverQuery } from './driver.ts'

/** Text -> name of ours. Connections outlive recordings, so all have the same. */
const ours = new Map<string, string>()

export class PreparedNames {
  private readonly texts = new Map<string, string>() // name -> text, as the application has them

  constructor(private readonly client: DriverClient) {}

  /** What a name stands for, whoever sent it. */
  textOf(name: string): string | undefined {
    return this.texts.get(name) ?? this.client.connection?.parsedStatements?.[name]
  }

  /** As the driver says it, if the name stands for another text; else null. */
  refuse(name: string, text: string): Error | null {
    const other = this.textOf(name)
    if (other === undefined || other === text) return null
    return new Error(
      `Prepared statements must be unique - '${name}' was used for a different statement`,
    )
  }

  /** Short, because the server cuts names after 63 characters. */
  nameFor(text: string): string {
    return obtain(ours, text, () => `isobar_${ours.size + 1}`)
  }

  /** It was answered: the name is taken, unless the server did not understand the text. */
  note(name: string, text: string, { name: sent }: DriverQuery, isGood: boolean): void {
    const parsed = this.client.connection?.parsedStatements
    if (isGood || (sent !== undefined && parsed?.[sent] !== undefined)) this.texts.set(name, text)
  }
}
