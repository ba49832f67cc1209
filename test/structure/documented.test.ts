// Only that no command of the documents goes unproven: each is run by a test, is marked as one that needs an AWS account, or says why nobody
// runs it. That those of documented-steps.ts work is test/cluster/documented.test.ts.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { documentedCommands } from '../support/documented.ts';
import {
  byHand,
  demo,
  elsewhere,
  exported,
  following,
  onCluster,
  onDemo,
  unattended,
} from '../support/documented-steps.ts';

const documented = documentedCommands();
const toTheLetter = [...byHand, ...onDemo, following, ...onCluster].map(({ command }) => command);
const proven = new Set([...toTheLetter, demo, exported, ...Object.keys(elsewhere), ...Object.keys(unattended)]);

describe('the commands of the documents', () => {
  it('are found, in blocks and in the text', () => {
    expect(documented.length).toBeGreaterThan(60);
    expect(documented.some(({ command }) => command.includes('<<END\n') && command.endsWith('\nEND'))).toBe(true);
  });

  it('are run by a test, or marked "Needs an AWS account", or of those that documented-steps.ts says nobody waits for', () => {
    const unproven = documented.filter(({ command, needsAws }) => !needsAws && !proven.has(command));
    expect(unproven.map(({ file, command }) => `${file}: ${command}`)).toEqual([]);
  });

  it('are marked only where they need it', () => {
    const aws = /^(aws |npx osls (deploy|info|remove)|docker build --push|npx outrigger .*--stage|npm run build$)/;
    expect(documented.filter(({ command, needsAws }) => needsAws && !aws.test(command))).toEqual([]);
  });

  it('are all that is run: nothing is proven that no document says', () => {
    const said = new Set(documented.map(({ command }) => command));
    expect([...proven].filter((command) => !said.has(command))).toEqual([]);
  });

  it('that something else runs are there', () => {
    for (const [command, [file, text]] of Object.entries(elsewhere))
      expect(readFileSync(file, 'utf8').includes(text), `${command}: ${file}`).toBe(true);
  });
});
