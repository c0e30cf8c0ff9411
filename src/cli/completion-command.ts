// `isobar completion`: a script that makes a shell complete commands, options and their values. It
// is made from what the program says of itself, so that it knows whatever the program knows.

import type { Command } from 'commander'
import { type OptionWords, SHELLS, type Shell, wordsOf } from './completion-words.ts'
import { EXIT } from './exit-codes.ts'
import { parseChoice } from './options.ts'
import { print } from './terminal.ts'

export function addCompletionCommand(program: Command, done: (code: number) => void): void {
  program
    .command('completion')
    .description('print a script that makes your shell complete commands, options and levels')
    .argument('<shell>', SHELLS.join(', '))
    .addHelpText(
      'after',
      `
Examples:
  source <(isobar completion bash)                                  in ~/.bashrc
  source <(isobar completion zsh)                                   in ~/.zshrc, after compinit
  isobar completion fish > ~/.config/fish/completions/isobar.fish`,
    )
    .action(async (shell: string) => {
      await print(renderCompletion(program, parseChoice(shell, 'the shell', SHELLS)))
      done(EXIT.satisfied)
    })
}

const RENDERERS: Record<Shell, (program: Command) => string[]> = {
  bash: renderBash,
  zsh: renderZsh,
  fish: renderFish,
}

function renderCompletion(program: Command, shell: Shell): string {
  return `${RENDERERS[shell](program).join('\n')}\n`
}

const names = ({ long, short }: OptionWords) => (short === null ? [long] : [short, long])

/** Options that take words of their own, or a file; one of a name takes the same in every command. */
function* valued(program: Command): Generator<OptionWords> {
  const { options, commands } = wordsOf(program)
  const seen = new Set<string>()
  for (const option of [...options, ...commands.flatMap((command) => command.options)]) {
    if (option.takes === 'nothing' || seen.has(option.long)) continue
    seen.add(option.long)
    yield option
  }
}

function renderBash(program: Command): string[] {
  const { options, commands } = wordsOf(program)
  const all = commands.map(({ name }) => name)
  const after: string[] = []
  for (const option of valued(program)) {
    const words = option.values.join(' ')
    const reply = {
      word: `COMPREPLY=($(compgen -W '${words}' -- "$cur"))`,
      list: `COMPREPLY=($(compgen -P "$list" -W '${words}' -- "\${cur##*,}"))`,
      file: 'COMPREPLY=($(compgen -f -- "$cur"))',
      anything: ':',
      nothing: ':',
    }[option.takes]
    after.push(`    ${names(option).join('|')}) ${reply}; return ;;`)
  }
  return [
    '# bash completion of isobar',
    '_isobar() {',
    `  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= list= word`,
    `  [[ $cur == *,* ]] && list=\${cur%,*},`,
    '  COMPREPLY=()',
    `  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do`,
    `    case $word in ${all.join('|')}) command=$word; break ;; esac`,
    '  done',
    '  case $prev in',
    ...after,
    '  esac',
    '  case $command in',
    `    '') COMPREPLY=($(compgen -W '${[...all, ...options.flatMap(names)].join(' ')}' -- "$cur")) ;;`,
    ...commands.map((command) => {
      const words = [...command.options.flatMap(names), ...command.values].join(' ')
      return `    ${command.name}) COMPREPLY=($(compgen -W '${words}' -- "$cur")) ;;`
    }),
    '  esac',
    '}',
    '# What is no word of ours is a file.',
    'complete -o bashdefault -o default -F _isobar isobar',
  ]
}

function renderZsh(program: Command): string[] {
  const { options, commands } = wordsOf(program)
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  const entry = (name: string, text: string) => quote(`${name.replaceAll(':', '\\:')}:${text}`)
  const entries = (list: readonly OptionWords[]) =>
    list.flatMap((option) => names(option).map((name) => entry(name, option.description))).join(' ')
  const after: string[] = []
  for (const option of valued(program)) {
    const words = option.values.join(' ')
    const reply = {
      word: `compadd -- ${words}`,
      list: `compset -P '*,'; compadd -- ${words}`,
      file: '_files',
      anything: '_message value',
      nothing: ':',
    }[option.takes]
    after.push(`    (${names(option).join('|')}) ${reply}; return ;;`)
  }
  return [
    '#compdef isobar',
    '# zsh completion of isobar',
    '_isobar() {',
    '  local command= word',
    '  local -a entries',
    `  for word in \${words[2,CURRENT-1]}; do`,
    `    case $word in (${commands.map(({ name }) => name).join('|')}) command=$word; break ;; esac`,
    '  done',
    `  case \${words[CURRENT-1]} in`,
    ...after,
    '  esac',
    '  case $command in',
    `    ('') entries=(${commands.map(({ name, description }) => entry(name, description)).join(' ')} ${entries(options)}) ;;`,
    ...commands.map(({ name, options: own, values }) => {
      const words = values.map((value) => entry(value, '')).join(' ')
      return `    (${name}) entries=(${[entries(own), words].join(' ').trim()}) ;;`
    }),
    '  esac',
    "  _describe 'isobar' entries",
    `  [[ -n $command && \${words[CURRENT]} != -* ]] && _files`,
    '  return 0',
    '}',
    `if [[ \${funcstack[1]} == _isobar ]]; then _isobar "$@"; else compdef _isobar isobar; fi`,
  ]
}

function renderFish(program: Command): string[] {
  const { options, commands } = wordsOf(program)
  const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const optionLine = (condition: string, option: OptionWords) => {
    const words = option.values.join(' ')
    const takes = {
      nothing: '',
      file: ' -r -F',
      word: ` -x -a ${quote(words)}`,
      list: ` -x -a ${quote(`(__fish_append , ${words})`)}`,
      anything: ' -x',
    }[option.takes]
    const short = option.short === null ? '' : ` -s ${option.short.slice(1)}`
    const long = option.long.slice(2)
    return `complete -c isobar${condition}${short} -l ${long}${takes} -d ${quote(option.description)}`
  }
  const lines = ['# fish completion of isobar']
  for (const option of options) lines.push(optionLine('', option))
  for (const { name, description, options: own, values } of commands) {
    const first = ` -n __fish_use_subcommand -f -a ${name} -d ${quote(description)}`
    lines.push(`complete -c isobar${first}`)
    const within = ` -n ${quote(`__fish_seen_subcommand_from ${name}`)}`
    if (values.length > 0) {
      lines.push(`complete -c isobar${within} -a ${quote(values.join(' '))}`)
    }
    const isOwn = (option: OptionWords) => !options.some(({ long }) => long === option.long)
    for (const option of own.filter(isOwn)) lines.push(optionLine(within, option))
  }
  return lines
}
