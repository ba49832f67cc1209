// What a move refuses before it has changed anything, and what it does with access entries. Excluded: the move itself
// (move.test.ts).

import { eksAccessEntries } from '@outrigger/cli/commands/clusters/move/eks-access-entries';
import { createFence } from '@outrigger/cli/commands/clusters/move/fence';
import { nextMoveStep } from '@outrigger/cli/commands/clusters/move/plan';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import type { ClusterEntry } from '../../../../src/clusters/registry/entry.ts';
import { Foo, foo } from '../../../../src/controllers/foo.ts';
import { sendJson, startWireServer } from '../../../kube/wire-server.ts';
import { adminToken, startGuardedServer } from './guarded-server.ts';

const { signal } = new AbortController();
const names = { name: 'a', from: 'prod', to: 'canary' };
const timing = { drainSeconds: 100, fenceSeconds: 40, refreshSeconds: 60 };
const nowMs = Date.parse('2026-01-01T01:00:00Z');
const entry: ClusterEntry = { server: 'https://a', access: { type: 'eks', cluster: 'a', region: 'us-east-1' } };
const since = '2026-01-01T00:00:00Z';
const from: ClusterEntry = { ...entry, movingFrom: { stage: 'prod' } };

describe('nextMoveStep', () => {
  it.each([
    ['a cluster that is in no table', undefined, undefined, 'is not in the table of stage prod'],
    ['a cluster of both stages', entry, entry, 'is in the table of stage canary too, so both reconcile it'],
    ['a paused cluster', { ...entry, paused: true }, undefined, 'resume it first: outrigger clusters resume a'],
    ['a cluster on its way to a third stage', { ...entry, movingTo: { stage: 'x', since } }, undefined, '--to x'],
    ['a cluster that still comes from another stage', from, undefined, 'clusters move a --stage prod --to prod'],
    ['a target that still comes from a third stage', entry, { ...entry, movingFrom: { stage: 'x' } }, 'from stage x'],
    ['a decommissioned cluster', { ...entry, decommissioning: true }, undefined, 'is being decommissioned'],
  ] as const)('%s is refused', (_, source, target, message) => {
    expect(() => nextMoveStep({ source, target }, names, timing, nowMs)).toThrow(message);
  });

  it('a time that cannot be read, or of a clock that is ahead, is noted again, so that no wait is shorter', () => {
    for (const wrong of ['yesterday', '2026-01-01T02:00:00Z']) {
      const source = { ...entry, movingTo: { stage: 'canary', since: wrong } };
      expect(nextMoveStep({ source, target: from }, names, timing, nowMs)).toEqual({ type: 'drain' });
      const fenced = { ...entry, movingTo: { stage: 'canary', since, fencedAt: wrong } };
      expect(nextMoveStep({ source: fenced, target: from }, names, timing, nowMs)).toEqual({ type: 'fence' });
    }
  });

  it('the fence, the start and the keys each wait for their whole time', () => {
    const ago = (seconds: number) => new Date(nowMs - seconds * 1000).toISOString();
    const stepAt = (drained: number, fenced?: number, started?: number) => {
      const fencedAt = fenced === undefined ? {} : { fencedAt: ago(fenced) };
      const startedAt = started === undefined ? {} : { startedAt: ago(started) };
      const source = { ...entry, movingTo: { stage: 'canary', since: ago(drained), ...fencedAt } };
      const target = { ...entry, movingFrom: { stage: 'prod', ...startedAt } };
      return nextMoveStep({ source, target }, names, timing, nowMs);
    };
    for (const step of [stepAt(99), stepAt(200, 39), stepAt(300, 100, 59)])
      expect(step).toMatchObject({ type: 'wait', seconds: 1 });
    const next = [stepAt(100), stepAt(200, 40), stepAt(300, 100, 60)];
    expect(next.map(({ type }) => type)).toEqual(['fence', 'start', 'reconcile-all']);
  });
});

describe('createFence', () => {
  async function fenceOf(groups: Readonly<Record<string, readonly string[]>> = {}, project = 'outrigger') {
    const guarded = await startGuardedServer({ crds: [Foo] }, groups);
    const admin = guarded.client(adminToken);
    onTestFinished(async () => {
      admin.close();
      await guarded[Symbol.asyncDispose]();
    });
    await guarded.bind('prod', 'outrigger-foo');
    await guarded.bind('canary', 'outrigger-foo');
    const fence = createFence(
      {
        admin,
        registry: [foo],
        project,
        namespaces: undefined,
        at: '',
        connect: async ({ access }) => guarded.client(access.type === 'token' ? access.token : ''),
        eks: () => ({ put: async () => undefined, remove: async () => undefined }),
        // A controller that only the first stage still has.
        functions: { source: [{ name: 'gone', role: 'arn', timeoutSeconds: 1 }], target: [] },
        wait: async () => undefined,
      },
      signal,
    );
    const of = (token: string): ClusterEntry => ({ server: guarded.url, access: { type: 'token', token } });
    return { fence, guarded, of };
  }

  it('two stages with users of their own may move; the fence takes only the first one’s bindings', async () => {
    const { fence, guarded, of } = await fenceOf();
    await guarded.server.apply({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'both' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'outrigger-foo' },
      subjects: ['prod', 'canary'].map((name) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name })),
    });
    await fence.checkPermissions({ source: of('prod'), target: of('canary') });
    await fence.takePermissions(of('prod'));
    const left = Object.values(guarded.server.snapshot().collections)
      .flat()
      .filter(({ kind }) => kind === 'ClusterRoleBinding')
      .map(({ metadata, subjects }) => ({ name: metadata.name, subjects }));
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'canary' }];
    expect(left).toEqual([
      { name: 'both', subjects },
      { name: 'outrigger-foo.canary', subjects },
    ]);
    // Again, as after a kill: nothing is left to take.
    await fence.takePermissions(of('prod'));
  });

  // Control T142.
  it('one token for both stages is refused', async () => {
    const { fence, of } = await fenceOf();
    const both = fence.checkPermissions({ source: of('prod'), target: of('prod') });
    await expect(both).rejects.toThrow('both stages are prod there, so the permissions of one cannot be taken away');
  });

  it('a user that has its permissions by a group is refused, since a credential keeps its groups', async () => {
    const { fence, guarded, of } = await fenceOf({ prod: ['admins'] });
    await guarded.bind('admins', 'outrigger-foo');
    const moved = fence.checkPermissions({ source: of('prod'), target: of('canary') });
    await expect(moved).rejects.toThrow('prod may get foos.samples.example.com by its groups (admins)');
  });

  it('a second stage without permissions is refused before anything is changed', async () => {
    const { fence, of } = await fenceOf();
    const moved = fence.checkPermissions({ source: of('prod'), target: of('stranger') });
    await expect(moved).rejects.toThrow('stranger, the user of the second stage, may not get foos');
  });

  it('the fence fails while another binding still gives the first stage permissions', async () => {
    const { fence, guarded, of } = await fenceOf();
    await guarded.bind('prod', 'cluster-admin');
    await expect(fence.takePermissions(of('prod'))).rejects.toThrow('prod still may get foos.samples.example.com');
  });

  it.each([
    ['outrigger', ['outrigger-foo', 'outrigger-gone', 'outrigger-resync'], 'outrigger-cafes.foo'],
    ['cafes', ['outrigger-cafes.foo', 'outrigger-cafes.gone', 'outrigger-cafes-resync'], 'outrigger-foo'],
  ])('the fence of project %s takes the bindings to its functions’ roles, and none of another project', async (project, own, others) => {
    const { fence, guarded, of } = await fenceOf({}, project);
    for (const role of [...own, others]) await guarded.bind('prod', role);
    await expect(fence.takePermissions(of('prod'))).rejects.toThrow('prod still may get');
    const names = Object.values(guarded.server.snapshot().collections).flatMap((all) =>
      all.filter(({ kind }) => kind === 'ClusterRoleBinding').map(({ metadata: { name = '' } }) => name),
    );
    expect(names.filter((name) => name.endsWith('.prod'))).toEqual([`${others}.prod`]);
  });

  it('a cluster without credentials is refused', async () => {
    const { fence, of } = await fenceOf();
    const none: ClusterEntry = { server: 'http://127.0.0.1:1', access: { type: 'none' } };
    await expect(fence.checkPermissions({ source: none, target: of('canary') })).rejects.toThrow(
      'needs no credentials',
    );
  });

  it('on EKS, the entries of the first stage’s roles are deleted, and those of the second created in their groups', async () => {
    const calls: string[] = [];
    const all = ['foo', 'resync', 'timers'];
    const functionsOf = (stage: string) => all.map((name) => ({ name, role: `${stage}-${name}`, timeoutSeconds: 30 }));
    const fence = createFence(
      {
        admin: undefined,
        registry: [foo],
        project: 'outrigger',
        namespaces: undefined,
        at: '',
        connect: () => Promise.reject(new Error('no credentials of EKS')),
        eks: ({ cluster }) => ({
          put: async (role, group) => void calls.push(`put ${cluster} ${role} ${group}`),
          remove: async (role) => void calls.push(`remove ${cluster} ${role}`),
        }),
        functions: { source: functionsOf('prod'), target: functionsOf('canary') },
        wait: async () => undefined,
      },
      signal,
    );
    await fence.checkPermissions({ source: entry, target: entry });
    await fence.takePermissions(entry);
    await fence.grantPermissions(entry);
    expect(calls).toEqual([
      ...all.map((name) => `remove a prod-${name}`),
      'put a canary-foo outrigger:controller:foo',
      'put a canary-resync outrigger:resync',
    ]);
  });
});

describe('eksAccessEntries', () => {
  /** EKS, as its API reference has it: one entry a role. */
  async function startEks() {
    const entries = new Map<string, readonly string[]>();
    const signed: string[] = [];
    const bodySchema = z.object({ principalArn: z.string().optional(), kubernetesGroups: z.array(z.string()) });
    const server = await startWireServer(({ method, path, headers, body }, response) => {
      signed.push(headers.authorization ?? '');
      const [, role = ''] = /^\/clusters\/a\/access-entries\/?(.*)$/.exec(path) ?? [];
      const arn = decodeURIComponent(role);
      const answer = (): readonly [number, object] => {
        if (method === 'DELETE') return entries.delete(arn) ? [200, {}] : [404, { message: 'no such entry' }];
        const { principalArn, kubernetesGroups } = bodySchema.parse(body);
        if (arn === '' && entries.has(principalArn ?? '')) return [409, { message: 'ResourceInUse' }];
        entries.set(principalArn ?? arn, kubernetesGroups);
        return [200, {}];
      };
      sendJson(response, ...answer());
    });
    const credentials = async () => ({ accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'unused' });
    const caller = { credentials, endpoint: server.url.origin, now: () => new Date(nowMs) };
    return { entries, signed, access: eksAccessEntries({ cluster: 'a', region: 'eu-west-1' }, caller) };
  }

  it('an entry is created, gets another group, and is deleted; each of them can be repeated', async () => {
    const { entries, signed, access } = await startEks();
    const role = 'arn:aws:iam::123456789012:role/path/foo';
    for (const group of ['one', 'two', 'two']) {
      await access.put(role, group);
      expect([...entries]).toEqual([[role, [group]]]);
    }
    await access.remove(role);
    await access.remove(role);
    expect(entries.size).toBe(0);
    expect(signed.every((one) => one.includes('/20260101/eu-west-1/eks/aws4_request'))).toBe(true);
  });
});
