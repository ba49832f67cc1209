// Only the errors of osls for wrong input: one line with the input and the next step, from our plug-in, and from osls without credentials.
import { CloudFormationClient, CreateStackCommand } from '@aws-sdk/client-cloudformation';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { paramsOf, type ServiceFolder, sampleSettings, serviceFolder } from '../support/service-folder.ts';
import { type EmulatedAccount, startEmulatedAccount } from './emulated-account.ts';

const stage = 'proof';

let aws: EmulatedAccount;
let service: ServiceFolder;
beforeAll(async () => {
  [aws, service] = await Promise.all([startEmulatedAccount(), serviceFolder()]);
});
afterAll(async () => {
  await aws?.close();
  await service?.remove();
});

/** The lines of osls under its last heading, except the one about its own configuration. */
function errorLines(output: string): readonly string[] {
  const [, error = ''] = output.split(/^Error:\n/m);
  return error
    .trim()
    .split('\n')
    .filter((one) => !one.startsWith('Cannot resolve serverless.yml'));
}

describe('errors of osls', () => {
  const deploy = (param: string) => ['deploy', '--stage', stage, '--param', param];
  it.each([
    [
      'a stage that is too long',
      ['package', '--stage', 'x'.repeat(40)],
      /outrigger-x+\S+ has \d+ characters, and AWS::\S+ at most 64; shorten its longest part: the stage x+ \(--stage\)/,
    ],
    ['a missing setting', deploy('PLANT_URL=https://x'), 'PANTRY_URL is needed: --param PANTRY_URL=...'],
    ['a misspelt option', deploy('KMS_KEY=x'), '--param KMS_KEY: unknown parameter; use one of LOG_RETENTION_DAYS, '],
    ['an invalid option', deploy('LOG_RETENTION_DAYS=31'), 'LOG_RETENTION_DAYS: "31" is not valid; give one of 1, 3, '],
  ])('osls reports %s (%j) in one line', async (_what, args, line) => {
    const { status, output } = await service.osls([...args, '--region', aws.region], aws.environment);
    expect(status).toBe(1);
    expect(errorLines(output)).toEqual([expect.stringMatching(line)]);
  });

  it.each([
    'deploy',
    'remove',
  ])('osls does not %s the stack that another project has at another stage, and names both', async (command) => {
    const cloudFormation = new CloudFormationClient(aws.client);
    const Resources = { Queue: { Type: 'AWS::SQS::Queue' } };
    const names = { StackName: `outrigger-${command}-eu`, TemplateBody: JSON.stringify({ Resources }) };
    const Tags = [
      { Key: 'service', Value: `outrigger-${command}` },
      { Key: 'stage', Value: 'eu' },
    ];
    await cloudFormation.send(new CreateStackCommand({ ...names, Tags }));
    const params = command === 'deploy' ? paramsOf(sampleSettings) : [];
    const args = [command, '--stage', `${command}-eu`, '--region', aws.region, ...params];
    const { status, output } = await service.osls(args, aws.environment);
    expect(status).toBe(1);
    expect(errorLines(output)).toEqual([
      `the stack outrigger-${command}-eu is of the project outrigger-${command} at the stage eu, not of outrigger ` +
        `at ${command}-eu; give another --stage, or another outrigger.project in package.json`,
    ]);
  });

  it('osls without credentials reports which are missing, and where to get them', async () => {
    const { AWS_ENDPOINT_URL = '' } = aws.environment;
    const args = ['deploy', '--stage', stage, ...paramsOf(sampleSettings)];
    const { status, output } = await service.osls(args, { AWS_ENDPOINT_URL, AWS_EC2_METADATA_DISABLED: 'true' });
    expect(status).toBe(1);
    expect(errorLines(output)).toEqual([
      expect.stringMatching(/^AWS provider credentials not found\. .*guides\/credentials/),
    ]);
  });
});
