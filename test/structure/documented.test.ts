// Only that every command of the documents is covered: a test runs it, or it is marked as one that needs an AWS account, or
// documented-steps.ts gives the reason why no test runs it. test/cluster/documented.test.ts runs the steps of documented-steps.ts.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { documentedCommands } from '../support/documented.ts';
import {
  cafeSteps,
  clusterSteps,
  demoCommand,
  demoSteps,
  exportCommand,
  testedElsewhere,
  untestedCommands,
  watchStep,
} from '../support/documented-steps.ts';

/** test/deploy/tutorial.test.ts runs all of its commands. */
const tutorialPage = 'docs/tutorial.md';
const documented = documentedCommands();
const toTheLetter = [...cafeSteps, ...demoSteps, watchStep, ...clusterSteps].map(({ command }) => command);
const proven = new Set([
  ...toTheLetter,
  demoCommand,
  exportCommand,
  ...Object.keys(testedElsewhere),
  ...Object.keys(untestedCommands),
]);

it('commands are found in code blocks and in the text', () => {
  expect(documented.length).toBeGreaterThan(60);
  expect(documented.some(({ command }) => command.includes('<<END\n') && command.endsWith('\nEND'))).toBe(true);
});

it('every command is run by a test, is marked "Needs an AWS account", or has a reason in documented-steps.ts', () => {
  const unproven = documented.filter(
    ({ file, command, needsAws }) => !needsAws && !proven.has(command) && file !== tutorialPage,
  );
  expect(unproven.map(({ file, command }) => `${file}: ${command}`)).toEqual([]);
});

it('only commands that need an AWS account are marked', () => {
  const aws =
    /^(aws |(npx osls|npm run osls --) (deploy|info|remove)|docker build(x imagetools inspect| --push)|npx outrigger (.*--stage|manifests .*--image)|helm upgrade|npm run build$)/;
  expect(documented.filter(({ command, needsAws }) => needsAws && !aws.test(command))).toEqual([]);
});

it('no step is run that no document has', () => {
  const said = new Set(documented.map(({ command }) => command));
  expect([...proven].filter((command) => !said.has(command))).toEqual([]);
});

it('the tests that run a command elsewhere contain it', () => {
  for (const [command, [file, text]] of Object.entries(testedElsewhere))
    expect(readFileSync(file, 'utf8').includes(text), `${command}: ${file}`).toBe(true);
});
