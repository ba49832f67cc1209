// The manifests of the watcher, compared to the names and times in the code. Whether a cluster accepts them is in
// test/cluster.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import {
  checkpointName,
  resyncIdentity,
  systemNamespace,
  watcherAccount,
  watcherIdentity,
} from '../../src/core/names.ts';
import { sampleKinds } from '../support/sample-manifests.ts';

const folder = new URL('../../infra/kubernetes/', import.meta.url);
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

it('the base image has no default, and the documented command names it by digest', () => {
  expect(read('Dockerfile')).toMatch(/^ARG BASE\nFROM \$\{BASE\}$/m);
  expect(readFileSync('docs/run/deploy.md', 'utf8')).toMatch(/docker build .*--build-arg BASE=\S+@sha256:/);
});

describe('the documented trust of the watcher’s role', () => {
  const guide = readFileSync('docs/run/deploy.md', 'utf8');
  const statement = z.object({
    Principal: z.record(z.string(), z.string()),
    Action: z.unknown(),
    Condition: z.record(z.string(), z.record(z.string(), z.string())),
  });
  const trusts = [...guide.matchAll(/```json\n(\{ "Version".*?)```/gs)].flatMap(([, text = '']) =>
    z
      .object({ Statement: z.array(z.unknown()) })
      .parse(JSON.parse(text))
      .Statement.filter((one) => JSON.stringify(one).includes('"sts:'))
      .map((one) => statement.parse(one)),
  );

  // Control T14.
  it('with Pod Identity one service account of one cluster has the role', () => {
    const trust = trusts.find(({ Principal }) => Principal.Service === 'pods.eks.amazonaws.com');
    expect(trust?.Action).toEqual(['sts:AssumeRole', 'sts:TagSession']);
    expect(trust?.Condition).toEqual({
      StringEquals: {
        'aws:SourceAccount': '123456789012',
        'aws:RequestTag/kubernetes-namespace': systemNamespace,
        'aws:RequestTag/kubernetes-service-account': watcherAccount,
      },
      ArnEquals: { 'aws:SourceArn': expect.stringMatching(/:cluster\/[\w-]+$/) },
    });
  });

  // Control T15.
  it('with IRSA the role compares the subject and the audience', () => {
    const trust = trusts.find(({ Principal }) => Principal.Federated !== undefined);
    const compared = Object.entries(trust?.Condition.StringEquals ?? {});
    expect(Object.keys(trust?.Condition ?? {})).toEqual(['StringEquals']);
    expect(compared.map(([key, value]) => [key.split(':').at(-1), value])).toEqual([
      ['sub', `system:serviceaccount:${systemNamespace}:${watcherAccount}`],
      ['aud', 'sts.amazonaws.com'],
    ]);
  });
});

it('the manifests and the generated ones use the same namespace, service account and ConfigMap', () => {
  const rbac = sampleKinds.get('rbac.yaml');
  for (const name of [systemNamespace, watcherAccount, checkpointName]) expect(rbac).toContain(`name: ${name}\n`);
  expect(pod.serviceAccountName).toBe(watcherAccount);
  for (const file of ['watcher/deployment.yaml', 'watcher/disruption-budget.yaml', 'watcher/network-policy.yaml']) {
    expect(documents(file)).toMatchObject([{ metadata: { namespace: systemNamespace } }]);
  }
});

it('the FlowSchema matches the watcher and the resync', () => {
  const [, schema] = documents('watcher/flow-schema.yaml');
  expect(schema).toMatchObject({
    spec: {
      rules: [
        {
          subjects: [
            { kind: 'ServiceAccount', serviceAccount: { name: watcherAccount, namespace: systemNamespace } },
            { kind: 'User', user: { name: watcherIdentity } },
            { kind: 'Group', group: { name: watcherIdentity } },
            { kind: 'User', user: { name: resyncIdentity } },
            { kind: 'Group', group: { name: resyncIdentity } },
          ],
        },
      ],
    },
  });
});

it('the startup probe covers both checks, and the grace period covers the drain and the last checkpoint', () => {
  const { periodSeconds, failureThreshold } = container.startupProbe;
  const checks = 2 * secondsIn('watcher/check-start.ts', 'checkSeconds');
  expect(periodSeconds * failureThreshold).toBeGreaterThanOrEqual(2 * checks);
  const end = secondsIn('watcher/run.ts', 'drainSeconds') + secondsIn('checkpoint/checkpoint.ts', 'flushSeconds');
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(2 * end);
});

it('the readiness probe uses /readyz, the startup and liveness probes use /healthz', () => {
  const { startupProbe, readinessProbe, livenessProbe } = container;
  expect([startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet)).toEqual([
    { path: '/healthz', port: container.ports[0].name },
    { path: '/readyz', port: container.ports[0].name },
    { path: '/healthz', port: container.ports[0].name },
  ]);
});

/** Reads a constant that is not exported from its source file. */
function secondsIn(file: string, name: string): number {
  const source = readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8');
  const [, value] = new RegExp(`^const ${name} = (\\d+);$`, 'm').exec(source) ?? [];
  if (value === undefined) throw new Error(`${file} has no constant ${name}`);
  return Number(value);
}
