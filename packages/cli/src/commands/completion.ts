// `outrigger completion`: prints a script that completes the words of commands and options in a shell. It is made of
// the commands themselves.
import { Argument, Command } from 'commander';
import { printLines } from './command.ts';

type Shell = 'bash' | 'zsh' | 'fish';

/** Makes the command. `load` loads all commands. */
export function completionCommand(load: () => Promise<readonly Command[]>): Command {
  return new Command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', helpText)
    .action(async (shell: Shell) => printLines(completionScript(shell, await load()).split('\n')));
}

const helpText = `
Examples:
  source <(outrigger completion bash)            in ~/.bashrc
  source <(outrigger completion zsh)             in ~/.zshrc, after compinit
  outrigger completion fish | source             in ~/.config/fish/config.fish`;

/** Returns the words that may follow each command: `''`, `dlq`, `dlq list`. */
export function wordsAfter(commands: readonly Command[]): ReadonlyMap<string, readonly string[]> {
  const words = new Map<string, readonly string[]>([['', commands.map((one) => one.name())]]);
  const add = (path: string, command: Command) => {
    const options = command.options.map(({ long }) => long ?? '').filter((long) => long !== '');
    words.set(path, [...command.commands.map((one) => one.name()), ...options, '--help']);
    for (const one of command.commands) add(`${path} ${one.name()}`, one);
  };
  for (const one of commands) add(one.name(), one);
  return words;
}

/** Makes the script for a shell. */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  const words = wordsAfter(commands);
  if (shell === 'fish') return fishScript(words);
  const cases = [...words].map(([path, next]) => `    '${path}') words='${next.join(' ')}' ;;`);
  const bash = [
    '_outrigger() {',
    `  local current="\${COMP_WORDS[COMP_CWORD]}" path="" word words=""`,
    `  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do`,
    '    case "$word" in -*) break ;; esac',
    `    case " $(_outrigger_paths) " in *" \${path:+$path/}$word "*) path="\${path:+$path/}$word" ;; esac`,
    '  done',
    `  case "\${path//\\// }" in`,
    ...cases,
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '}',
    `_outrigger_paths() { echo '${[...words.keys()].map((path) => path.replaceAll(' ', '/')).join(' ')}'; }`,
    'complete -o default -F _outrigger outrigger',
  ];
  return [...(shell === 'zsh' ? ['autoload -U +X bashcompinit && bashcompinit'] : []), ...bash].join('\n');
}

function fishScript(words: ReadonlyMap<string, readonly string[]>): string {
  const lines = [...words].flatMap(([path, next]) => {
    const [first = '', second] = path.split(' ');
    const seen = first === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${first}`;
    const condition = second === undefined ? seen : `${seen}; and __fish_seen_subcommand_from ${second}`;
    return next.map((word) =>
      word.startsWith('--')
        ? `complete -c outrigger -n '${condition}' -l ${word.slice(2)}`
        : `complete -c outrigger -f -n '${condition}' -a ${word}`,
    );
  });
  return lines.join('\n');
}
