// Every step of docs/tutorial.md, verbatim and in its order, in an empty folder with the packed package: the files that it
// shows are written, its commands are run by a shell, and those that need an AWS account use an emulated one.
import type { ChildProcess } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { controlPlaneBinaries } from '../../tools/control-plane/build.ts';
import { packedPackages } from '../../tools/troubleshooting/packed-package.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startCommand, stopCommand, untilEnded, untilLine } from '../support/user-shell.ts';
import { usersEnvironment } from '../support/users-environment.ts';
import { startEmulatedAccount } from './emulated-account.ts';
import { seedLock } from './seed-lock.ts';

const source = path.resolve(import.meta.dirname, '../..');
const timeout = 600_000;

/** What the page shows, in its order: a file to write, or commands of one block. */
type Step =
  | { readonly file: string; readonly text: string }
  | { readonly commands: readonly string[]; readonly needsAws: boolean };

async function stepsOf(page: string): Promise<readonly Step[]> {
  const text = await readFile(path.join(source, page), 'utf8');
  const blocks = text.matchAll(/(?:^`([\w./-]+)`:\n\n)?^```(\w+)\n(.*?)^```$/gms);
  return [...blocks].map(([, file, language, body = '']): Step => {
    if (language !== 'sh') {
      expect(file, `a block of ${language} without the name of its file`).toBeDefined();
      return { file: file ?? '', text: body };
    }
    const lines = body.trimEnd().split('\n');
    return {
      commands: lines.filter((line) => !line.startsWith('#')),
      needsAws: lines[0]?.startsWith('# Needs') === true,
    };
  });
}

/** These run until they are stopped; the page says to start each in a terminal of its own. */
const untilStopped = /^(node names\.mjs|npm run demo)/;
/** What the page says of the output of a command. */
const expected: readonly (readonly [RegExp, RegExp])[] = [
  [/^npm test/, /Test Files .*\d+ passed/],
  [/^kubectl get sites/, /north.*north\.example\.com(.|\n)*configmap\/north/],
  [/^npx osls package/, /Service packaged/],
  [/^npx osls deploy/, /Service deployed|✔/],
  [/^npx osls info/, /stack: sites-dev/],
];
/** What the page says that each curl prints. */
const names = ['["north.example.com"]', '["south.example.com"]', '[]'];

it(
  'a newcomer who follows the tutorial has a controller that runs, is tested and is deployed',
  { timeout },
  async () => {
    const parent = temporaryFolder();
    const folder = path.join(parent, 'sites');
    await mkdir(folder);
    const aws = await startEmulatedAccount();
    onTestFinished(async () => await aws.close());
    const kubectl = path.dirname((await controlPlaneBinaries()).kubectl);
    const users = Object.entries(usersEnvironment([kubectl])).filter(([name]) => !name.startsWith('AWS_'));
    const env: NodeJS.ProcessEnv = { ...Object.fromEntries(users), npm_config_prefer_offline: 'true' };

    const run = async (command: string, more: Readonly<Record<string, string>> = {}): Promise<string> => {
      const { status, output } = await untilEnded(startCommand(command, folder, { ...env, ...more }));
      expect(status, `${command}\n${output}`).toBe(0);
      return output;
    };
    const background: ChildProcess[] = [];
    const stopBackground = async () => {
      for (const child of background.splice(0)) await stopCommand(child);
    };
    onTestFinished(stopBackground);

    // The page has what `npm run pack` makes of a clone.
    await mkdir(path.join(parent, 'packed'));
    for (const file of Object.values(await packedPackages()))
      await copyFile(file, path.join(parent, 'packed', path.basename(file)));
    const printed: string[] = [];
    for (const step of await stepsOf('docs/tutorial.md')) {
      if ('file' in step) {
        await mkdir(path.dirname(path.join(folder, step.file)), { recursive: true });
        await writeFile(path.join(folder, step.file), step.text);
        continue;
      }
      for (const command of step.commands) {
        const exported = /^export (\w+)=(.*)$/.exec(command);
        if (exported !== null) env[exported[1] ?? ''] = exported[2];
        else if (untilStopped.test(command)) {
          const child = startCommand(command, folder, env);
          background.push(child);
          // The next commands of the page are for a system that is Ready.
          if (command.startsWith('npm run demo')) await untilLine(child, /site\/north .*Ready/);
        } else {
          if (command.startsWith('npx osls package')) await stopBackground();
          // Without versions npm asks the registry about hundreds of packages, which takes minutes.
          if (command.startsWith('npm install')) await seedLock(folder);
          const output = await run(command, step.needsAws ? aws.environment : {});
          if (command.startsWith('curl')) printed.push(output.trim());
          for (const [pattern, shows] of expected) if (pattern.test(command)) expect(output, command).toMatch(shows);
        }
      }
    }
    expect(printed).toEqual(names);
    // The package installs no Node, which it does in a clone.
    const installed = await readdir(path.join(folder, 'node_modules'));
    expect(installed.filter((name) => name.startsWith('node-linux'))).toEqual([]);
  },
);
