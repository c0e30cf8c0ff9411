// `isobar proxy` as a user runs it, with clients in other languages, where they are installed
// (scripts/live-databases.sh does it): psql, psycopg2, JDBC and Go. What they see straight from the
// server they see through it.

import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { isobar, makeFolder, put } from '../../cli/command.ts'
import { blocksOf } from '../../docs/blocks.ts'
import { reset } from '../server.ts'
import { onProxiedServer } from './stage.ts'

const BIN = resolve(import.meta.dirname, '../../../bin/isobar.js')
const stage = onProxiedServer()
const folder = makeFolder()
const run = promisify(execFile)

const TABLES = [
  'CREATE TABLE stock (id int PRIMARY KEY, n int NOT NULL, name text)',
  "INSERT INTO stock VALUES (1, 10, 'ä'), (2, 20, NULL)",
]

function isThere(command: string, args: string[], what: string): boolean {
  if (spawnSync(command, args).status === 0) return true
  process.stderr.write(`SKIPPED: clients of the proxy in ${what}, which is not installed\n`)
  return false
}

/** Debian's own, whatever other there is. */
const PYTHON = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3'
const JDBC = '/usr/share/java/postgresql.jar'
const hasPsql = isThere('psql', ['--version'], 'psql')
const hasJdbc = isThere('javac', ['--version'], 'Java') && isThere('test', ['-f', JDBC], 'JDBC')
const GO_LIBRARIES = '/usr/share/gocode' // where Debian puts their sources
const hasGo =
  isThere('go', ['version'], 'Go') &&
  isThere('test', ['-d', `${GO_LIBRARIES}/src/github.com/lib/pq`], 'Go with lib/pq')
const hasPsycopg2 = isThere(PYTHON, ['-c', 'import psycopg2'], 'psycopg2')

interface Running {
  child: ChildProcess
  port: number
  file: string
  /** Ends it as Ctrl-C does; its exit code and what it said. */
  end(signal?: NodeJS.Signals): Promise<{ code: number | null; out: string }>
}

async function startCommand(name: string, ...more: string[]): Promise<Running> {
  const file = join(folder, name)
  const to = `postgres://127.0.0.1:${stage.login.port}/`
  const args = ['proxy', '--to', to, '--listen', '0', '--out', file, ...more]
  const child = spawn(process.execPath, [BIN, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines: string[] = []
  const reader = createInterface({ input: child.stdout! })
  const closed = once(child, 'close')
  const ready = once(reader, 'line')
  reader.on('line', (line) => lines.push(line))
  const [first] = (await Promise.race([ready, closed.then(() => [''])])) as [string]
  const port = Number(/:(\d+)\/ leads to/.exec(first)?.[1])
  const end = async (signal: NodeJS.Signals = 'SIGINT') => {
    child.kill(signal)
    const [code] = (await closed) as [number | null]
    return { code, out: lines.join('\n') }
  }
  return { child, port, file, end }
}

/** A line of the documentation, with an address of ours in it. */
function withAddress(line: string, port: number): string {
  const { user, database } = stage.login
  const told = line
    .replace('port=5433', `port=${port}`)
    .replace(/user=('?)me/, `user=$1${user}`)
    .replace(/dbname=('?)test/, `dbname=$1${database}`)
  expect(told).not.toMatch(/5433|='?(me|test)\b/)
  return told
}

const environmentOf = (port: number) => {
  const { user, password, database } = stage.login as Record<string, string>
  return {
    ...process.env,
    ...{ PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: user, PGPASSWORD: password },
    ...{ PGDATABASE: database, PGCLIENTENCODING: 'UTF8' },
  } as NodeJS.ProcessEnv
}

describe('isobar proxy', () => {
  it('ends with a complete file and 0, in the middle of a transaction too', async () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      await reset(stage.direct, ...TABLES)
      const proxy = await startCommand(`${signal}.jsonl`)
      const pool = new pg.Pool({ ...stage.login, port: proxy.port })
      pool.on('error', () => {})
      await pool.query('UPDATE stock SET n = n + 1 WHERE id = 1')
      await pool.query('SELECT n FROM stock a JOIN stock b USING (n)').catch(() => {})
      const client = await pool.connect()
      client.on('error', () => {})
      await client.query('BEGIN')
      await client.query('UPDATE stock SET n = 0 WHERE id = 1')
      expect(existsSync(proxy.file)).toBe(false)
      const { code, out } = await proxy.end(signal)
      expect(code).toBe(0)
      expect(out).toContain('.jsonl: 2 transactions of 1 client')
      expect(out).toContain('1 × a join')
      client.release(true)
      await pool.end()
      const checked = isobar(['check', proxy.file, '--level', 'ser'])
      expect(checked.out).toContain('unknown')
      expect(checked.code).toBe(3)
    }
  })

  it('ends though a client does not hang up, nor stops to talk', async () => {
    const { port, end } = await startCommand('deaf.jsonl')
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    client.on('error', () => {})
    // Whether it may encrypt; when the answer comes, the proxy knows of it.
    client.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]))
    const [answer] = (await once(client, 'data')) as [Buffer]
    expect(answer.toString()).toBe('N')
    client.resume()
    const told = once(client, 'end')
    const ended = end()
    await told
    client.write('and then')
    expect((await ended).code).toBe(0)
    client.destroy()
  })

  it('writes a history of nothing if nothing came', async () => {
    const proxy = await startCommand('empty.jsonl')
    expect((await proxy.end()).out).toContain('0 transactions of 0 clients')
    expect(readFileSync(proxy.file, 'utf8')).toContain('isobar')
  })

  it('refuses what it cannot do before anybody connects', async () => {
    const to = `postgres://127.0.0.1:${stage.login.port}/`
    const full = put(folder, 'full.jsonl', 'something')
    const tried = (args: string[]) => isobar(['proxy', ...args])
    const nowhere = tried(['--to', to, '--listen', '0', '--out', join(folder, 'no', 'h.jsonl')])
    expect([nowhere.code, nowhere.err]).toEqual([2, expect.stringContaining('h.jsonl')])
    const taken = tried(['--to', to, '--listen', '0', '--out', full])
    expect([taken.code, taken.err]).toEqual([2, expect.stringContaining('--force')])
    const odd = tried(['--to', to, '--listen', 'here', '--out', join(folder, 'x.jsonl')])
    expect([odd.code, odd.err]).toEqual([2, expect.stringContaining('--listen is host:port')])
    const proxy = await startCommand('first.jsonl')
    const listen = ['--listen', String(proxy.port)]
    const second = tried(['--to', to, ...listen, '--out', join(folder, 'x.jsonl')])
    expect([second.code, second.err]).toEqual([2, expect.stringContaining('is taken')])
    await proxy.end()
    const gone = `postgres://127.0.0.1:${proxy.port}/`
    const unreachable = tried(['--to', gone, '--listen', '0', '--out', join(folder, 'x.jsonl')])
    expect([unreachable.code, unreachable.err]).toEqual([
      4,
      expect.stringContaining('cannot reach the server'),
    ])
    expect(existsSync(join(folder, 'x.jsonl'))).toBe(false)
    expect(readFileSync(full, 'utf8')).toBe('something')
  })
})

const SCRIPT = `
\\set VERBOSITY verbose
\\d stock
SELECT * FROM stock ORDER BY id;
BEGIN ISOLATION LEVEL SERIALIZABLE;
UPDATE stock SET n = n + 1 WHERE id = 1;
SELECT n FROM stock WHERE id = 1;
SELECT nosuch FROM stock;
ROLLBACK;
INSERT INTO stock VALUES (3, 30, 'c') RETURNING *;
INSERT INTO stock VALUES (3, 30, 'c');
SELECT id, n FROM stock WHERE n > $1 ORDER BY id \\bind 15 \\g
\\copy stock FROM STDIN
4\t40\t\\N
\\.
\\copy stock TO STDOUT
SELECT count(*) FROM stock \\gdesc
DO $$ BEGIN RAISE NOTICE 'heard'; END $$;
\\echo :ROW_COUNT
`

describe.skipIf(!hasPsql)('psql', () => {
  it('gets in as the documentation says', async () => {
    await reset(stage.direct, ...TABLES)
    const proxy = await startCommand('psql-docs.jsonl')
    const lines = blocksOf('commands').flatMap(({ text }) => text.split('\n'))
    const line = withAddress(lines.find((each) => each.startsWith('$ psql '))!.slice(2), proxy.port)
    const command = `${line} -XAt -c 'SELECT n FROM stock WHERE id = 1'`
    const { stdout } = await run('sh', ['-c', command], { env: environmentOf(proxy.port) })
    expect(stdout).toBe('10\n')
    expect((await proxy.end()).out).toContain('psql-docs.jsonl: 1 transaction of 1 client')
  })

  it('sees through the proxy what it sees without', async () => {
    const psql = async (port: number) => {
      await reset(stage.direct, ...TABLES)
      const child = spawn('psql', ['-X', '-a'], { env: environmentOf(port) })
      let said = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (chunk) => {
          said += chunk
        })
      }
      child.stdin.end(SCRIPT)
      await once(child, 'close')
      return said.split('\n').sort()
    }
    const proxy = await startCommand('psql.jsonl')
    const seen = await psql(proxy.port)
    await proxy.end()
    expect(seen).toEqual(await psql(stage.login.port!))
    expect(seen.join('\n')).toContain('LOCATION')
  })
})

/** Two that read before either writes, and what it takes to prevent that. */
const LOST = `
import psycopg2
one, two = psycopg2.connect(''), psycopg2.connect('')
def book(connection, cured):
    cursor = connection.cursor()
    if not cured:
        cursor.execute('SELECT n FROM stock WHERE id = %s', (1,))
        return cursor, ('UPDATE stock SET n = %s WHERE id = %s', (cursor.fetchone()[0] - 1, 1))
    return cursor, ('UPDATE stock SET n = n - 1 WHERE id = %s', (1,))
for cursor, write in [book(one, CURED), book(two, CURED)]:
    cursor.execute(*write)
    print(cursor.rowcount)
    cursor.connection.commit()
try:
    two.cursor().execute('SELECT nosuch FROM stock')
except psycopg2.Error as error:
    print(error.pgcode, error.diag.statement_position)
`

describe.skipIf(!hasPsycopg2)('psycopg2', () => {
  it('gets in as the documentation says', async () => {
    await reset(stage.direct, ...TABLES)
    const proxy = await startCommand('psycopg2-docs.jsonl')
    const line = withAddress(blocksOf('python')[0]!.text, proxy.port)
    const script = `import psycopg2\n${line}\ncursor = connection.cursor()\ncursor.execute('SELECT n FROM stock WHERE id = 1')\nprint(cursor.fetchone())\nconnection.commit()\n`
    const { stdout } = await run(PYTHON, ['-c', script], { env: environmentOf(proxy.port) })
    expect(stdout).toBe('(10,)\n')
    expect((await proxy.end()).out).toContain('psycopg2-docs.jsonl: 1 transaction of 1 client')
  })

  it('is found to lose an update, and cured by an atomic one', async () => {
    for (const [cured, verdict] of [
      ['False', 'violated'],
      ['True', 'satisfied'],
    ] as const) {
      await reset(stage.direct, ...TABLES)
      const proxy = await startCommand(`psycopg2-${cured}.jsonl`)
      const script = LOST.replaceAll('CURED', cured)
      const { stdout } = await run(PYTHON, ['-c', script], { env: environmentOf(proxy.port) })
      expect(stdout).toBe('1\n1\n42703 8\n')
      expect((await proxy.end()).code).toBe(0)
      const { out, code } = isobar(['check', proxy.file, '--level', 'ser'])
      expect(out).toContain(verdict)
      expect(code).toBe(verdict === 'violated' ? 1 : 0)
    }
  })
})

/** The same in Java: statements that are prepared, results that are binary, and read in parts. */
const LOST_IN_JAVA = `
import java.sql.*;

public class Lost {
  static Connection connect() throws SQLException {
    String at = "jdbc:postgresql://127.0.0.1:" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE");
    Connection made = DriverManager.getConnection(
      at + "?sslmode=disable&prepareThreshold=1", System.getenv("PGUSER"), System.getenv("PGPASSWORD"));
    made.setAutoCommit(false);
    return made;
  }

  static int read(Connection on) throws SQLException {
    try (PreparedStatement asked = on.prepareStatement("SELECT n FROM stock WHERE id = ?")) {
      asked.setInt(1, 1);
      ResultSet rows = asked.executeQuery();
      rows.next();
      return rows.getInt(1);
    }
  }

  static void write(Connection on, boolean cured, int n) throws SQLException {
    String to = cured ? "n - 1" : "?";
    try (PreparedStatement asked = on.prepareStatement("UPDATE stock SET n = " + to + " WHERE id = ?")) {
      if (!cured) asked.setInt(1, n - 1);
      asked.setInt(cured ? 1 : 2, 1);
      System.out.println(asked.executeUpdate());
    }
    on.commit();
  }

  public static void main(String[] given) throws SQLException {
    boolean cured = !given[0].equals("broken");
    Connection one = connect(), two = connect();
    int first = cured ? 0 : read(one), second = cured ? 0 : read(two);
    write(one, cured, first);
    write(two, cured, second);
    for (int i = 0; i < 3; i++) {
      try (PreparedStatement all = two.prepareStatement("SELECT id, n, name FROM stock ORDER BY id")) {
        all.setFetchSize(given[0].equals("parts") ? 1 : 0);
        ResultSet rows = all.executeQuery();
        while (rows.next()) {
          System.out.println(rows.getInt(1) + " " + rows.getInt(2) + " " + rows.getString(3));
        }
      }
    }
    two.commit();
    two.setAutoCommit(true);
    try {
      two.createStatement().executeUpdate("INSERT INTO stock VALUES (1, 1), (2, 2)");
    } catch (SQLException error) {
      System.out.println(error.getSQLState());
    }
    one.close();
    two.close();
  }
}
`

/** JDBC and Go refuse the one round of hashing by which the embedded server keeps its password. */
async function keepPasswordAsServersDo(): Promise<void> {
  const client = await stage.direct.connect()
  const { user, password } = stage.login
  await client.query('SET scram_iterations = 4096')
  await client.query(`ALTER ROLE ${user} PASSWORD '${password}'`)
  client.release(true)
}

describe.skipIf(!hasJdbc)('JDBC', () => {
  beforeAll(async () => {
    await keepPasswordAsServersDo()
    await run('javac', ['-encoding', 'UTF-8', '-d', folder, put(folder, 'Lost.java', LOST_IN_JAVA)])
  })

  const play = async (port: number, how: string) => {
    await reset(stage.direct, ...TABLES)
    const args = ['-Dfile.encoding=UTF-8', '-cp', `${JDBC}:${folder}`, 'Lost', how]
    return (await run('java', args, { env: environmentOf(port) })).stdout
  }

  it.each([
    ['broken', 'violated', 9],
    ['cured', 'satisfied', 8],
    ['parts', 'unknown', 8],
  ] as const)('sees what it sees without, and %s is %s', async (how, verdict, left) => {
    const proxy = await startCommand(`jdbc-${how}.jsonl`)
    const seen = await play(proxy.port, how)
    expect((await proxy.end()).code).toBe(0)
    expect(seen).toContain(`1\n1\n1 ${left} `)
    expect(seen).toBe(await play(stage.login.port!, how))
    const text = readFileSync(proxy.file, 'utf8')
    expect(text).toContain('{"refused":"stock","rows":[{"key":[1],"from":')
    const { out } = isobar(['check', proxy.file, '--level', 'ser'])
    expect(out, text).toContain(verdict)
  })
})

/** The same in Go: database/sql prepares whatever has parameters, and describes it. */
const LOST_IN_GO = `
package main

import (
	"database/sql"
	"fmt"
	"os"

	"github.com/lib/pq"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	db, err := sql.Open("postgres", "sslmode=disable")
	check(err)
	one, err := db.Begin()
	check(err)
	two, err := db.Begin()
	check(err)
	seen := map[*sql.Tx]int{}
	for _, tx := range []*sql.Tx{one, two} {
		var n int
		if os.Args[1] == "broken" {
			check(tx.QueryRow("SELECT n FROM stock WHERE id = $1", 1).Scan(&n))
		}
		seen[tx] = n
	}
	for _, tx := range []*sql.Tx{one, two} {
		var result sql.Result
		if os.Args[1] == "broken" {
			result, err = tx.Exec("UPDATE stock SET n = $1 WHERE id = $2", seen[tx]-1, 1)
		} else {
			result, err = tx.Exec("UPDATE stock SET n = n - 1 WHERE id = $1", 1)
		}
		check(err)
		count, err := result.RowsAffected()
		check(err)
		fmt.Println(count)
		check(tx.Commit())
	}
	rows, err := db.Query("SELECT id, n FROM stock ORDER BY id")
	check(err)
	for rows.Next() {
		var id, n int
		check(rows.Scan(&id, &n))
		fmt.Println(id, n)
	}
	_, err = db.Query("SELECT nosuch FROM stock")
	failed := err.(*pq.Error)
	fmt.Println(failed.Code, failed.Position, failed.Message)
}
`

describe.skipIf(!hasGo)('Go', () => {
  const program = join(folder, 'lost-in-go')
  beforeAll(async () => {
    await keepPasswordAsServersDo()
    const env = { ...process.env, GO111MODULE: 'off', GOPATH: GO_LIBRARIES, GOFLAGS: '' }
    const cached = { ...env, GOCACHE: join(folder, 'go-cache') }
    const source = put(folder, 'lost.go', LOST_IN_GO)
    await run('go', ['build', '-o', program, source], { env: cached })
  }, 300_000)

  const play = async (port: number, how: string) => {
    await reset(stage.direct, ...TABLES)
    return (await run(program, [how], { env: environmentOf(port) })).stdout
  }

  it.each([
    ['broken', 'violated', 9],
    ['cured', 'satisfied', 8],
  ] as const)('sees what it sees without, and %s is %s', async (how, verdict, left) => {
    const proxy = await startCommand(`go-${how}.jsonl`)
    const seen = await play(proxy.port, how)
    expect((await proxy.end()).code).toBe(0)
    expect(seen).toContain(`1\n1\n1 ${left}\n`)
    expect(seen).toContain('42703 8 ')
    expect(seen).toBe(await play(stage.login.port!, how))
    const { out } = isobar(['check', proxy.file, '--level', 'ser'])
    expect(out, readFileSync(proxy.file, 'utf8')).toContain(verdict)
  })
})
