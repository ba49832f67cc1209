// The battery on a right controller, and on three that are wrong, each in another way that many real ones are.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Allows } from '../../src/api/allows.ts';
import type { Kind } from '../../src/api/kind.ts';
import { rbacOf } from '../../src/generate/rbac/rbac.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import { ConfigMap, Deployment, Job, Namespace, Role, RoleBinding, Service } from '../../src/kubernetes.ts';
import { defineKind, ok, type ResultOf } from '../../src/outrigger.ts';
import { lackedGrant } from '../../src/testing/battery/least-rbac.ts';
import { battery } from '../../src/testing.ts';

const Note = defineKind({
  group: 'test.example.com',
  version: 'v1',
  kind: 'Note',
  spec: z.object({ text: z.string() }),
  status: z.object({ child: z.string().optional() }),
  conditions: ['Written'],
});
const sample = { apiVersion: Note.apiVersion, kind: 'Note', metadata: { name: 'one' }, spec: { text: 'a' } };
const written = { Written: ok('Written') };

const right = Note.controller('note', {
  owns: [ConfigMap],
  async reconcile({ metadata: { name }, spec: { text } }, { apply }): Promise<ResultOf<typeof Note>> {
    await apply(ConfigMap, { metadata: { name }, data: { text } });
    return { status: { child: name }, conditions: written };
  },
  finalize: async () => 'done',
});

const withoutToken = { automountServiceAccountToken: false };

describe('a controller that is right', () => {
  for (const { name, run } of battery(right, { samples: [sample] })) it(name, run);
});

it('the battery leaves the global fetch as it was, also after two functions at once', async () => {
  const before = globalThis.fetch;
  const twoFunctions = battery(right, { samples: [sample] }).find(({ name }) => name.startsWith('two functions'));
  await twoFunctions?.run();
  expect(globalThis.fetch).toBe(before);
});

it('a sample of a foreign kind has its status when it is reconciled', async () => {
  const follower = Deployment.controller('follower', {
    reconcile: async ({ status }) => {
      if (status?.readyReplicas !== 2) throw new Error('the Deployment has no status');
    },
  });
  const labels = { app: 'a' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } };
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'one' },
    spec: { selector: { matchLabels: labels }, template },
    status: { replicas: 2, readyReplicas: 2 },
  };
  await battery(follower, { samples: [deployment] })[0]?.run();
});

/** Runs the check of a name, and returns its message if it fails. */
async function failureOf(
  name: string,
  controller: Parameters<typeof battery>[0],
  options: Partial<Parameters<typeof battery>[1]> = {},
): Promise<string | undefined> {
  const check = battery(controller, { samples: [sample], ...options }).find((one) => one.name === name);
  if (check === undefined) throw new Error(`there is no check ${name}`);
  return await check.run().then(
    () => undefined,
    (error: Error) => error.message,
  );
}

it('a controller whose children live in a Namespace that it makes passes every check, also with one that is created once', async () => {
  const Preview = defineKind({
    group: 'test.example.com',
    version: 'v1',
    kind: 'Preview',
    scope: 'Cluster',
    spec: z.object({}),
    status: z.object({ seeded: z.boolean() }),
    conditions: [],
  });
  const preview = Preview.controller('preview', {
    owns: [Namespace, ConfigMap, Job],
    async reconcile({ metadata: { name }, status }, { apply, applyAll }): Promise<ResultOf<typeof Preview>> {
      const namespace = `preview-${name}`;
      await apply(Namespace, { metadata: { name: namespace } });
      await apply(ConfigMap, { metadata: { namespace, name: 'settings' }, data: { text: 'a' } });
      const template = {
        spec: { ...withoutToken, restartPolicy: 'Never', containers: [{ name: 'main', image: 'seed' }] },
      };
      const seed = { metadata: { namespace, name: 'seed' }, spec: { template } };
      await applyAll(Job, (existing) => (status?.seeded ? existing : [seed]));
      return { status: { seeded: true }, conditions: {} };
    },
  });
  const one = { apiVersion: Preview.apiVersion, kind: 'Preview', metadata: { name: 'one' }, spec: {} };
  for (const { run } of battery(preview, { samples: [one], createdOnce: [Job] })) await run();
});

/** Runs the check of the permissions, and returns the first sentence of its message if it fails. */
async function refusalOf(controller: Parameters<typeof battery>[0]): Promise<string | undefined> {
  const name = battery(controller, { samples: [sample] }).find((one) => one.name.includes('permissions'))?.name ?? '';
  return (await failureOf(name, controller))?.split('. ')[0];
}

let count = 0;

describe('a controller that is wrong', () => {
  it('a time in a child is caught as a write without end, and the message says what to leave out', async () => {
    const restless = Note.controller('note', {
      owns: [ConfigMap],
      async reconcile({ metadata: { name } }, { apply }): Promise<ResultOf<typeof Note>> {
        count += 1;
        await apply(ConfigMap, { metadata: { name }, data: { count: `${count}` } });
        return { status: {}, conditions: written };
      },
    });
    expect(await failureOf('a converged object is reconciled without a write', restless)).toBe(
      'a converged object is written again by every reconcile: PATCH /api/v1/namespaces/default/configmaps/one. ' +
        'What to change: leave times, random values and counters out of children and status, or derive them from what ' +
        'is there.',
    );
  });

  it('a child with a random name is caught as one more child by every reconcile, and the message says how to name it', async () => {
    const growing = Note.controller('note', {
      owns: [ConfigMap],
      async reconcile({ metadata: { name } }, { apply }): Promise<ResultOf<typeof Note>> {
        await apply(ConfigMap, { metadata: { name: `${name}-${randomUUID()}` } });
        return { status: {}, conditions: written };
      },
    });
    expect(await failureOf('a converged object is reconciled without a write', growing)).toMatch(
      /^every reconcile of an unchanged object creates one more child: ConfigMap one-\S+ is number 13\. What to change: give/,
    );
  });

  it('a reconciler that throws is caught with its error and stack, and the message does not blame the sample', async () => {
    const thrown = new Error('no such field');
    const throwing = Note.controller('note', { reconcile: () => Promise.reject(thrown) });
    const failure = await battery(throwing, { samples: [sample] })[0]
      ?.run()
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ cause: thrown });
    expect(String(failure)).toMatch(
      /^BatteryError: the reconcile of the sample fails: no such field\. What to change: the reconciler where it throws/,
    );
  });

  it('an error that ends in a punctuation mark is followed by no second one', async () => {
    const throwing = Note.controller('note', { reconcile: () => Promise.reject(new Error('is it installed?')) });
    await expect(battery(throwing, { samples: [sample] })[0]?.run()).rejects.toThrow('installed? What to change: ');
  });

  const polling = (requeueAfterSeconds: number) =>
    Note.controller('note', {
      async reconcile(): Promise<ResultOf<typeof Note>> {
        return { status: {}, conditions: written, requeueAfterSeconds };
      },
    });

  it.each<[string, number, number | undefined, boolean]>([
    ['one second', 1, undefined, true],
    ['just under the default of 30 s', 29, undefined, true],
    ['30 s', 30, undefined, false],
    ['a second, which the author declares', 1, 1, false],
    ['less than the author declares', 4, 5, true],
  ])('a converged object that is requeued after %s is caught if that is too soon', async (_, seconds, shortest, isCaught) => {
    const options = shortest === undefined ? {} : { shortestRequeueSeconds: shortest };
    const check = 'a converged object is not reconciled again and again by its own requeue';
    const failure = await failureOf(check, polling(seconds), options);
    expect(failure !== undefined).toBe(isCaught);
    if (isCaught)
      expect(failure).toContain(`requeued after ${seconds} s, sooner than ${shortest ?? 30} s. What to change:`);
  });

  it.each<[string, (now: () => Date) => string]>([
    ['the day by the clock of the context', (now) => now().toISOString().slice(0, 10)],
    ['the hour by the global Date', () => `${new Date().getUTCHours()}`],
    ['the hour by Date.now', () => `${Math.floor(Date.now() / 3_600_000)}`],
  ])('a child that has %s is caught a day later, unless the author declares it', async (_, text) => {
    const dated = Note.controller('note', {
      owns: [ConfigMap],
      async reconcile({ metadata: { name } }, { apply, now }): Promise<ResultOf<typeof Note>> {
        await apply(ConfigMap, { metadata: { name }, data: { text: text(now) } });
        return { status: {}, conditions: written };
      },
    });
    const check = 'a converged object is reconciled a day later without a write';
    expect(await failureOf(check, dated)).toMatch(
      /^a day later, when only the clock has changed, ConfigMap\/one\.owned\.data\.text is .* What to change: leave the time/,
    );
    expect(await failureOf(check, dated, { changesWithTime: true })).toBeUndefined();
  });

  const labels = { note: 'one' };
  const containers = [{ name: 'main', image: 'nginx', envFrom: [{ secretRef: { name: 'one' } }] }];
  const apiGroup = 'rbac.authorization.k8s.io';
  const watchPods = { apiGroups: [''], resources: ['pods'], verbs: ['watch'] };
  it.each<[string, Kind, object, Allows, string]>([
    [
      'a Deployment whose containers read a Secret',
      Deployment,
      {
        spec: {
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { ...withoutToken, containers } },
        },
      },
      { secrets: true },
      'note does not declare allows.secrets',
    ],
    [
      'H8: a Deployment whose pods have the token of their account',
      Deployment,
      {
        spec: {
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
        },
      },
      { automountServiceAccountToken: true },
      'note does not declare allows.automountServiceAccountToken; without it a pod sets the field to false',
    ],
    [
      'K14: a Service with a load balancer',
      Service,
      { spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } },
      { serviceTypes: ['LoadBalancer'] },
      'note does not declare allows.serviceTypes',
    ],
    [
      'a RoleBinding to a ClusterRole',
      RoleBinding,
      {
        roleRef: { apiGroup, kind: 'ClusterRole', name: 'edit' },
        subjects: [{ kind: 'Group', apiGroup, name: 'team' }],
      },
      { clusterRoles: ['edit'] },
      'note does not declare allows.clusterRoles',
    ],
    [
      'a Role with a permission that the controller lacks',
      Role,
      { rules: [{ apiGroups: [Note.group], resources: [Note.plural], verbs: ['get'] }, watchPods] },
      { grants: [watchPods] },
      'the API server refuses Role one: note lacks the permission to watch pods, which it grants',
    ],
  ])('%s is caught, unless the controller declares it', async (_, kind, content, allows, refusal) => {
    const allowing = (allowed: Allows) =>
      Note.controller('note', {
        owns: [kind],
        allows: allowed,
        async reconcile({ metadata: { name } }, { apply }): Promise<ResultOf<typeof Note>> {
          await apply(kind, { metadata: { name }, ...content });
          return { status: {}, conditions: written };
        },
      });
    expect(await refusalOf(allowing({}))).toContain(refusal);
    expect(await refusalOf(allowing(allows))).toBeUndefined();
    const binds = (controller: ReturnType<typeof allowing>) =>
      JSON.stringify(rbacOf([controller], watchListOf([controller]))).includes(
        '"verbs":["bind"],"resourceNames":["edit"]',
      );
    expect([binds(allowing({})), binds(allowing(allows))]).toEqual([false, kind === RoleBinding]);
  });

  it('a ClusterRole with a rule of URLs has permissions that the controller lacks, and its other rules are checked', () => {
    const lacked = lackedGrant(right);
    const own = { apiGroups: [Note.group], resources: [Note.plural], verbs: ['get'] };
    const roleOf = (...rules: object[]) => ({ kind: 'ClusterRole', rules });
    const urls = { nonResourceURLs: ['/metrics'], verbs: ['get'] };
    expect(lacked(roleOf(own))).toBeUndefined();
    expect(lacked(roleOf(own, urls))).toBe('get the URL /metrics');
    expect(lacked(roleOf({ ...own, verbs: ['watch'] }, urls))).toBe(`watch ${Note.plural}.${Note.group}`);
  });

  it('a child that is remembered in the status alone is made twice after a crash, and the message says how to name it', async () => {
    const forgetful = Note.controller('note', {
      owns: [ConfigMap],
      async reconcile({ metadata: { name }, spec: { text }, status }, { apply }): Promise<ResultOf<typeof Note>> {
        count += 1;
        const child = status?.child ?? `${name}-${count}`;
        await apply(ConfigMap, { metadata: { name: child }, data: { text } });
        return { status: { child }, conditions: written };
      },
    });
    expect(await failureOf('after a crash at any write the next reconcile reaches the same end', forgetful)).toMatch(
      /^after a crash right after PATCH .*configmaps.* What to change: give a child the name that follows from its owner/,
    );
  });

  it('a child that is due an hour after its object is made twice after a crash, and sampleAgeSeconds shows it', async () => {
    const late = Note.controller('note', {
      owns: [ConfigMap],
      async reconcile({ metadata: { creationTimestamp = '' }, status }, context): Promise<ResultOf<typeof Note>> {
        const due = new Date(Date.parse(creationTimestamp) + 3_600_000);
        if (context.now() < due) return { status: {}, conditions: written, requeueAt: due };
        count += 1;
        const child = status?.child ?? `run-${count}`;
        await context.applyAll(ConfigMap, [{ metadata: { name: child } }], { prune: false });
        return { status: { child }, conditions: written };
      },
    });
    const name = 'after a crash at any write the next reconcile reaches the same end';
    expect(await failureOf(name, late)).toBeUndefined();
    const dayLater = 'a converged object is reconciled a day later without a write';
    expect(await failureOf(dayLater, late)).toContain('changesWithTime and sampleAgeSeconds');
    expect(await failureOf(name, late, { sampleAgeSeconds: 3_600 })).toContain('ConfigMap/run-');
  });

  it('a child that is named after the time is made twice by the retry of a crash, which is later', async () => {
    const dated = Note.controller('note', {
      owns: [ConfigMap],
      async reconcile({ status }, { applyAll, now }): Promise<ResultOf<typeof Note>> {
        const child = status?.child ?? `run-${now().getTime()}`;
        await applyAll(ConfigMap, [{ metadata: { name: child } }], { prune: false });
        return { status: { child }, conditions: written };
      },
    });
    expect(
      (await failureOf('after a crash at any write the next reconcile reaches the same end', dated)) ?? '',
    ).toContain('after a crash right after PATCH');
  });

  it('a reconcile that ends early for an observed generation is caught by the child that it does not repair', async () => {
    const lazy = Note.controller('note', {
      owns: [ConfigMap],
      async reconcile(note, { apply }): Promise<ResultOf<typeof Note>> {
        const { metadata, spec } = note;
        if (note.observedGeneration === metadata.generation) return { status: { ...note.status }, conditions: written };
        await apply(ConfigMap, { metadata: { name: metadata.name }, data: { text: spec.text } });
        return { status: {}, conditions: written };
      },
    });
    expect(await failureOf('a child whose deletion was missed is created again', lazy)).toMatch(
      /ConfigMap one was deleted by another client, ConfigMap\/one is absent .* do not return early because the generation/,
    );
  });

  it('a caught NotOwnedError is reported, because the status then hides the foreign object', async () => {
    const mute = Note.controller('note', {
      owns: [ConfigMap],
      async reconcile({ metadata: { name }, spec: { text } }, { apply }): Promise<ResultOf<typeof Note>> {
        await apply(ConfigMap, { metadata: { name }, data: { text } }).catch(() => undefined);
        return { status: {}, conditions: written };
      },
    });
    const check = 'a foreign object with the name of a child is not touched, and the status says NotOwned';
    expect(await failureOf(check, mute)).toContain('do not catch the NotOwnedError of apply');
  });
});

const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } };
it.each([
  ['no sample', [], 'samples: the battery needs at least one object'],
  ['another kind', [sample, map], 'samples[1] is v1 ConfigMap; note reconciles test.example.com/v1 Note'],
  ['a sample without a name', [{ ...sample, metadata: {} }], 'samples[0]: metadata.name is needed'],
])('a battery with %s is refused with the position of the sample', (_, samples, message) => {
  expect(() => battery(right, { samples })).toThrow(message);
});

it('a sample that the controller does not select fails every check, because it is never reconciled', async () => {
  const broken = Note.controller('note', {
    owns: [ConfigMap],
    selector: { matchLabels: { team: 'a' } },
    reconcile: () => Promise.reject(new Error('broken')),
  });
  const checks = battery(broken, { samples: [sample] });
  const failures = await Promise.all(checks.map(({ run }) => run().catch(({ message }: Error) => message)));
  const failure =
    'the selector of note does not select the sample one, so it is never reconciled. What to change: give a sample ' +
    'that has its labels, namespace and fields.';
  expect(failures).toEqual(checks.map(() => failure));
});
