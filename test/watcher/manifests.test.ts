// The manifests of the watcher beside what the code says of the same things. Whether a cluster accepts them, and what becomes of them
// there, is in test/cluster.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { cursorName, resyncIdentity, systemNamespace, watcherAccount } from '../../src/core/names.ts';
import { readWatcherSettings } from '../../src/settings.ts';

const folder = new URL('../../infra/kubernetes', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, folder), 'utf8');
const documents = (file: string): readonly unknown[] =>
  parseAllDocuments(read(file)).map((document): unknown => document.toJS());

const probe = z.object({
  httpGet: z.object({ path: z.string(), port: z.string() }),
  periodSeconds: z.number(),
  timeoutSeconds: z.number(),
  failureThreshold: z.number(),
});
const deployment = z.object({
  spec: z.object({
    replicas: z.number(),
    template: z.object({
      spec: z.looseObject({
        serviceAccountName: z.string(),
        terminationGracePeriodSeconds: z.number(),
        containers: z.tuple([
          z.looseObject({
            ports: z.tuple([z.object({ name: z.string(), containerPort: z.number() })]),
            startupProbe: probe,
            readinessProbe: probe,
            livenessProbe: probe,
          }),
        ]),
      }),
    }),
  }),
});
const { spec } = deployment.parse(documents('watcher/deployment.yaml')[0]);
const pod = spec.template.spec;
const [container] = pod.containers;

/** What kustomize makes of a file of variables. */
function variables(file: string): Readonly<Record<string, string>> {
  const lines = read(file)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

describe('the manifests', () => {
  it.each([
    'watcher.env',
    'overlays/eks/watcher.env',
  ])('%s says all that the watcher must be told, of one region', (file) => {
    const { AWS_REGION: region = '', ...settings } = variables(file);
    const { QUEUE_URL_PREFIX, PORT } = readWatcherSettings(settings);
    expect(QUEUE_URL_PREFIX).toContain(`sqs.${region}.amazonaws.com/`);
    expect(PORT).toBe(container.ports[0].containerPort);
  });

  it('name the namespace, the account and the cursor as the generated ones do', () => {
    const rbac = read('generated/rbac.yaml');
    for (const name of [systemNamespace, watcherAccount, cursorName]) expect(rbac).toContain(`name: ${name}\n`);
    expect(pod.serviceAccountName).toBe(watcherAccount);
    for (const file of ['watcher/deployment.yaml', 'watcher/disruption-budget.yaml', 'watcher/network-policy.yaml']) {
      expect(documents(file)).toMatchObject([{ metadata: { namespace: systemNamespace } }]);
    }
  });

  it('give those who list whole kinds their share, the watcher and the resync', () => {
    const [, schema] = documents('watcher/flow-schema.yaml');
    expect(schema).toMatchObject({
      spec: {
        rules: [
          {
            subjects: [
              { kind: 'ServiceAccount', serviceAccount: { name: watcherAccount, namespace: systemNamespace } },
              { kind: 'User', user: { name: resyncIdentity } },
              { kind: 'Group', group: { name: resyncIdentity } },
            ],
          },
        ],
      },
    });
  });

  it('give a start the time of both its questions, and an end that of the last messages and the cursor', () => {
    const { periodSeconds, failureThreshold } = container.startupProbe;
    const questions = 2 * secondsIn('check-start.ts', 'seconds');
    expect(periodSeconds * failureThreshold).toBeGreaterThanOrEqual(2 * questions);
    const end = secondsIn('run.ts', 'drainSeconds') + secondsIn('cursor.ts', 'flushSeconds');
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(2 * end);
  });

  it('ask readiness of /readyz, and of /healthz only whether it is to be started anew', () => {
    const { startupProbe, readinessProbe, livenessProbe } = container;
    expect([startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet)).toEqual([
      { path: '/healthz', port: container.ports[0].name },
      { path: '/readyz', port: container.ports[0].name },
      { path: '/healthz', port: container.ports[0].name },
    ]);
  });
});

/** A constant of the watcher's that is nobody else's to import. */
function secondsIn(file: string, name: string): number {
  const source = readFileSync(new URL(`../../src/watcher/${file}`, import.meta.url), 'utf8');
  const [, value] = new RegExp(`^const ${name} = (\\d+);$`, 'm').exec(source) ?? [];
  if (value === undefined) throw new Error(`${file} has no constant ${name}`);
  return Number(value);
}
