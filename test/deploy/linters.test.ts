// Only the linters' results: cfn-lint (whether CloudFormation accepts a template) and checkov (security), for the packaged
// template with no option, with every option, with wakes and of the examples, and for the stack of the fleet watcher.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fleetWatcherStack } from '@outrigger/cli/aws/fleet-watcher';
import { parseTemplate } from '@outrigger/cli/dev/lambda/template';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { devTemplate, type RegistryModule } from '../generate/package-template.ts';
import { paramsOf, type ServiceFolder, serviceFolder } from '../support/service-folder.ts';
import { pythonTools } from './python-tools.ts';

let service: ServiceFolder;
beforeAll(async () => {
  service = await serviceFolder();
});
afterAll(() => service?.remove());

/** Without SENDERS: checkov takes the id of a role for an access key (CKV_AWS_45). */
const everyOption = {
  LOG_RETENTION_DAYS: '7',
  ALARM_TOPIC_ARN: 'arn:aws:sns:eu-central-1:123456789012:on-call',
  KMS_KEY_ARN: 'arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d-0000-0000-0000-000000000000',
  VPC_SUBNET_IDS: 'subnet-0a1b2c3d,subnet-4e5f6a7b',
  VPC_SECURITY_GROUP_IDS: 'sg-0a1b2c3d',
  TRACING: 'on',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector:4318',
  OTEL_EXPORTER_OTLP_HEADERS_SECRET: 'outrigger/dev/otlp-headers',
  LOG_LEVEL: 'WARN',
  METRICS_PER_CLUSTER: 'true',
  SENDER_CHECK: 'off',
  PAUSED: 'water-tank',
};

/** Resolves with the linter's findings; empty if there are none. */
function findings(python: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const child = execFile(python, [...args], { cwd: service.folder }, (_error, stdout, stderr) => {
      resolve(child.exitCode === 0 ? '' : `exit status ${child.exitCode}: ${stdout}${stderr}`);
    });
  });
}

const cases: readonly (readonly [string, Readonly<Record<string, string>>, RegistryModule?])[] = [
  ['every option', everyOption],
  // These options remove resources, which the other templates have.
  [
    'wakes',
    { MONITORING: 'off', CLUSTERS_TABLE: 's3://mine/clusters.json' },
    ['generate/waking-registry.ts', 'wakingRegistry'],
  ],
  [
    'examples',
    { VAULT_URL: 'https://vault', POSTGRES_URL: 'https://postgres', VAULT_TOKEN: 'outrigger/dev/settings/VAULT_TOKEN' },
    ['generate/examples-registry.ts', 'examplesRegistry'],
  ],
];

describe('the templates', () => {
  const files: string[] = [];
  beforeAll(async () => {
    const fleet = join(service.folder, 'fleet-watcher.json');
    await writeFile(fleet, JSON.stringify(fleetWatcherStack('outrigger')));
    files.push(fleet);
    const plain = join(service.folder, 'template-no-option.json');
    await writeFile(plain, await devTemplate());
    files.push(plain);
    for (const [what, options, registry] of cases) {
      if (registry !== undefined) await service.setRegistry(...registry);
      const packaged = await service.osls(['package', '--region', 'eu-central-1', ...paramsOf(options)]);
      expect(packaged).toMatchObject({ status: 0 });
      const file = join(service.folder, `template-${what.replaceAll(' ', '-')}.json`);
      await writeFile(file, await service.template());
      files.push(file);
    }
  });

  it('no check of checkov is skipped in a template, except for Container Insights of the fleet watcher', async () => {
    const texts = await Promise.all(files.map(async (file) => await readFile(file, 'utf8')));
    expect(texts.flatMap((text) => text.match(/CKV\w+/g) ?? [])).toEqual(['CKV_AWS_65']);
  });

  it('the functions of external-dns may change and list the records of one zone, and no other function may', () => {
    const { Resources } = parseTemplate(readFileSync(join(service.folder, 'template-examples.json'), 'utf8'));
    const statement = {
      Effect: 'Allow',
      Action: ['route53:ListResourceRecordSets', 'route53:ChangeResourceRecordSets'],
      Resource: [{ 'Fn::Sub': 'arn:${AWS::Partition}:route53:::hostedzone/${ZoneId}' }],
    };
    const permitted = Object.entries(Resources).filter(([, one]) => JSON.stringify(one).includes('route53:'));
    expect(permitted.map(([id]) => id).toSorted()).toEqual(['ExternalDnsIngressRole', 'ExternalDnsServiceRole']);
    for (const [, { Properties }] of permitted) {
      const [policy] = Object(Properties).Policies;
      expect(policy.PolicyDocument.Statement).toContainEqual(statement);
    }
  });

  // One run for all templates: most of a linter's time is its start.
  it('the packaged templates with no option, every option, wakes and the examples, and the stack of the fleet watcher, pass cfn-lint', async () => {
    const { python, program } = await pythonTools();
    expect(await findings(python, program('cfn-lint', '--regions', 'eu-central-1', 'us-east-1', '--', ...files))).toBe(
      '',
    );
  });

  it('the packaged templates with no option, every option, wakes and the examples, and the stack of the fleet watcher, pass checkov, except for checkov.yml', async () => {
    const { python } = await pythonTools('requirements-checkov.txt');
    const config = join(import.meta.dirname, 'checkov.yml');
    expect(await findings(python, ['-m', 'checkov.main', '--config-file', config, '--file', ...files])).toBe('');
  });
});
