// Only what is said to whoever gives osls something wrong: one line that names it and the next step, ours or osls' own.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServiceFolder, serviceFolder } from '../support/service-folder.ts';
import { type EmulatedAccount, startEmulatedAccount } from './emulated-account.ts';

const stage = 'proof';
const settings = { PLANT_URL: 'https://plant.example.com', PANTRY_URL: 'https://pantry.example.com' };

let aws: EmulatedAccount;
let service: ServiceFolder;
beforeAll(async () => {
  [aws, service] = await Promise.all([startEmulatedAccount(), serviceFolder()]);
});
afterAll(async () => {
  await aws?.close();
  await service?.remove();
});

/** What osls says under its last heading, but for a line about its own configuration. */
function errorLines(said: string): readonly string[] {
  const [, error = ''] = said.split(/^Error:\n/m);
  return error
    .trim()
    .split('\n')
    .filter((one) => !one.startsWith('Cannot resolve serverless.yml'));
}

describe('what osls is told wrongly', () => {
  const stackless = `Stack with id outrigger-nowhere does not exist`;
  it.each([
    ['a stage that is not there', ['remove', '--stage', 'nowhere'], stackless],
    ['a stage that is not there', ['info', '--stage', 'nowhere'], stackless],
    [
      'a stage that cannot be',
      ['package', '--stage', 'a.b'],
      'Invalid stage name. Stage names may contain only ASCII letters, numbers, and hyphens.',
    ],
    [
      'a stage that is too long',
      ['package', '--stage', 'x'.repeat(40)],
      /--stage: outrigger-x+\S+ is longer than the 64 characters of AWS::\S+; give a shorter one/,
    ],
    [
      'a setting that is missing',
      ['deploy', '--stage', stage, '--param', 'PLANT_URL=https://x'],
      'PANTRY_URL is needed: --param PANTRY_URL=...',
    ],
    [
      'an option that is misspelt',
      ['deploy', '--stage', stage, '--param', 'KMS_KEY=x'],
      '--param KMS_KEY: nothing reads it; there are LOG_RETENTION_DAYS, ',
    ],
    [
      'an option that cannot be',
      ['deploy', '--stage', stage, '--param', 'LOG_RETENTION_DAYS=31'],
      'LOG_RETENTION_DAYS: "31" will not do; give one of 1, 3, ',
    ],
  ])('%s (%j) is one line', async (_what, args, line) => {
    const { status, said } = await service.osls([...args, '--region', aws.region], aws.environment);
    expect(status).toBe(1);
    expect(errorLines(said)).toEqual([expect.stringMatching(line)]);
  });

  it('without credentials it says which are missing, and where to get some', async () => {
    const { AWS_ENDPOINT_URL = '' } = aws.environment;
    const params = Object.entries(settings).flatMap(([name, value]) => ['--param', `${name}=${value}`]);
    const args = ['deploy', '--stage', stage, ...params];
    const { status, said } = await service.osls(args, { AWS_ENDPOINT_URL, AWS_EC2_METADATA_DISABLED: 'true' });
    expect(status).toBe(1);
    expect(errorLines(said)).toEqual([
      expect.stringMatching(/^AWS provider credentials not found\. .*guides\/credentials/),
    ]);
  });
});
