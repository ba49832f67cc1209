// The manifests on a real control plane, and the watchers that they make: the image's command, the Deployment's environment, the
// service account's token. Excluded: what becomes of them in an outage (watcher-outage.test.ts), what the watcher does with every
// change (watcher.test.ts).
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import watchList from '../../infra/kubernetes/generated/watch-list.json' with { type: 'json' };
import { parseWatchList } from '../../src/core/watch-list.ts';
import { cursorName, systemNamespace, watcherAccount } from '../../src/core/names.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { isForbidden } from '../../src/kube/client/errors.ts';
import { parseMessage } from '../../src/queue/message.ts';
import { openWatcherCluster, type WatcherCluster } from './watcher-cluster.ts';

const user = `system:serviceaccount:${systemNamespace}:${watcherAccount}`;
const base = 'infra/kubernetes';
const timeout = 180_000;
let at: WatcherCluster;

beforeAll(async () => {
  at = await openWatcherCluster();
}, timeout);
afterAll(async () => await at.close());

const tanksSeen = async (names: readonly string[]): Promise<readonly string[]> => {
  const seen: string[] = [];
  for (let tries = 0; tries < 30 && !names.every((name) => seen.includes(name)); tries += 1) {
    const messages = await at.queues.drain('water-tank.fifo', { waitSeconds: 2 });
    seen.push(...messages.map(({ Body = '' }) => parseMessage(Body).name));
  }
  return seen.filter((name) => names.includes(name)).sort();
};

describe('the manifests', { timeout }, () => {
  it.each([
    ['apply --server-side', base],
    ['apply --server-side', `${base}/overlays/eks`],
    ['apply', base],
    ['apply', `${base}/overlays/eks`],
  ])('are accepted as they stand by kubectl %s -k %s, without a warning', async (command, overlay) => {
    // A dry run makes no namespace for what is in it. One that was only created is a warning to a plain apply.
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } };
    await at.kubectl.run([command === 'apply' ? 'apply' : 'create', '-f', '-'], { manifest: namespace });
    const { status, stderr } = await at.kubectl.run([...command.split(' '), '--dry-run=server', '-k', overlay]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('that were applied differ in nothing from the cluster, and a cursor that was written stays', async () => {
    await at.kubectl.say(['apply', '--server-side', '--force-conflicts', '-k', base]);
    const written = { cursor: 'written' };
    await at.kubectl.say(['patch', 'configmap', cursorName, '--type=merge', '-p', JSON.stringify({ data: written })]);
    const { status, stdout } = await at.kubectl.run(['diff', '--server-side', '-k', base]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
    await at.kubectl.say(['apply', '--server-side', '-k', base]);
    const cursor = await at.kubectl.say(['get', 'configmap', cursorName, '-o', 'jsonpath={.data}']);
    expect(JSON.parse(cursor)).toEqual(written);
    await at.kubectl.say(['delete', 'deployment', 'outrigger-watcher', '--cascade=foreground']);
    await at.kubectl.say(['patch', 'configmap', cursorName, '--type=merge', '-p', '{"data":null}']);
  });

  it('pods that are not as restricted as the watcher’s are refused beside it', async () => {
    const spec = { containers: [{ name: 'main', image: 'main' }] };
    const manifest = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'other' }, spec };
    const { stderr } = await at.kubectl.run(['create', '-f', '-'], { manifest });
    expect(stderr).toContain('violates PodSecurity "restricted');
  });
});

describe('the watchers', { timeout }, () => {
  let client: KubeClient;
  beforeAll(async () => {
    await at.apply();
    await at.run();
    const [watcher] = at.running();
    const token = await readFile(
      join(watcher?.mounts['/var/run/secrets/kubernetes.io/serviceaccount'] ?? '', 'token'),
      'utf8',
    );
    client = createClient({ ...at.plane.connection(), token: async () => token });
  }, timeout);
  afterAll(() => client.close());

  it('are two, and both see a change, which becomes one message', async () => {
    const watchers = at.running();
    expect(watchers.length).toBe(2);
    await at.applyTank('north');
    const accepted = async (ip: string): Promise<boolean> =>
      /forwarded_total\{controller="water-tank",lane="watch"\} 1/.test(
        await (await fetch(`http://${ip}:8080/metrics`)).text(),
      );
    for (const { ip } of watchers) await expect.poll(() => accepted(ip), { timeout: 30_000 }).toBe(true);
    const messages = await at.queues.drain('water-tank.fifo');
    expect(messages.map(({ Body = '' }) => parseMessage(Body))).toMatchObject([
      { cluster: 'test', controller: 'water-tank', namespace: 'default', name: 'north', lane: 'watch' },
    ]);
  });

  it('send as the role that their service account names', async () => {
    const path = 'jsonpath={.metadata.annotations.eks\\.amazonaws\\.com/role-arn}';
    const role = await at.kubectl.say(['get', 'serviceaccount', watcherAccount, '-o', path]);
    expect(at.sts.given.length).toBeGreaterThanOrEqual(2);
    expect(at.sts.given).toEqual(at.sts.given.map(() => ({ role, user })));
  });

  it('were refused nothing, and asked for nothing but lists and watches of the watch list, and their cursor', async () => {
    const asked = (await at.plane.auditEvents()).filter((event) => event.user.username === user);
    expect(asked.filter(({ responseStatus }) => [401, 403].includes(responseStatus?.code ?? 0))).toEqual([]);
    const { resources } = parseWatchList(watchList);
    const allowed = new Set([
      ...resources.flatMap(({ group, plural }) => [`list ${plural}.${group}`, `watch ${plural}.${group}`]),
      ...['get namespaces.', 'get configmaps.', 'patch configmaps.', 'get /version'],
    ]);
    const did = asked.map(({ verb, requestURI, objectRef }) =>
      objectRef === undefined ? `${verb} ${requestURI}` : `${verb} ${objectRef.resource}.${objectRef.apiGroup ?? ''}`,
    );
    expect(did.filter((one) => !allowed.has(one))).toEqual([]);
    for (const { group, plural } of resources) expect(did).toContain(`watch ${plural}.${group}`);
  });

  it('may do nothing else', async () => {
    const rule = z.looseObject({
      verbs: z.array(z.string()),
      apiGroups: z.array(z.string()).default([]),
      resources: z.array(z.string()).default([]),
      resourceNames: z.array(z.string()).default([]),
    });
    const answer = z.looseObject({ status: z.looseObject({ resourceRules: z.array(rule) }) });
    const review = async (namespace: string): Promise<readonly string[]> => {
      const { body } = await client.request({
        method: 'POST',
        path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
        body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace } },
      });
      const rules = answer.parse(body).status.resourceRules;
      return rules
        .flatMap(({ verbs, apiGroups, resources, resourceNames }) =>
          apiGroups.flatMap((group) =>
            resources.flatMap((resource) =>
              verbs.map((verb) => `${verb} ${resource}.${group} ${resourceNames.join()}`.trimEnd()),
            ),
          ),
        )
        .sort();
    };
    const { resources } = parseWatchList(watchList);
    const everywhere = [
      ...resources.flatMap(({ group, plural }) => [`list ${plural}.${group}`, `watch ${plural}.${group}`]),
      'get namespaces. kube-system',
      // Kubernetes' own: everybody may ask what he may, and who he is.
      ...['selfsubjectaccessreviews', 'selfsubjectrulesreviews'].map((one) => `create ${one}.authorization.k8s.io`),
      'create selfsubjectreviews.authentication.k8s.io',
    ];
    expect(await review('default')).toEqual([...everywhere].sort());
    const cursor = ['get', 'patch'].map((verb) => `${verb} configmaps. ${cursorName}`);
    expect(await review(systemNamespace)).toEqual([...everywhere, ...cursor].sort());
  });

  it.each<['GET' | 'POST' | 'PATCH' | 'DELETE', string]>([
    ['GET', '/api/v1/namespaces/default/secrets'],
    ['GET', '/apis/plant.example.com/v1/namespaces/default/watertanks/north'],
    ['PATCH', '/apis/plant.example.com/v1/namespaces/default/watertanks/north/status'],
    ['DELETE', '/apis/plant.example.com/v1/namespaces/default/watertanks/north'],
    ['PATCH', `/api/v1/namespaces/${systemNamespace}/configmaps/kube-root-ca.crt`],
    ['DELETE', `/api/v1/namespaces/${systemNamespace}/configmaps/${cursorName}`],
    ['POST', `/api/v1/namespaces/${systemNamespace}/configmaps`],
    ['POST', `/api/v1/namespaces/${systemNamespace}/serviceaccounts/${watcherAccount}/token`],
    ['GET', `/api/v1/namespaces/${systemNamespace}`],
    ['GET', '/api/v1/nodes'],
    ['GET', '/metrics'],
  ])('are refused %s %s', async (method, path) => {
    const call = client.request({ method, path, ...(method === 'GET' || method === 'DELETE' ? {} : { body: {} }) });
    await expect(call).rejects.toSatisfy(isForbidden);
  });

  it('are served from a share of the API server that is theirs', async () => {
    const uid = await at.kubectl.say(['get', 'flowschema', 'outrigger', '-o', 'jsonpath={.metadata.uid}']);
    const { headers } = await client.request({ method: 'GET', path: '/apis/plant.example.com/v1/watertanks' });
    expect(headers['x-kubernetes-pf-flowschema-uid']).toBe(uid);
  });

  it('run as the user that the image names, who is not root', async () => {
    const path =
      'jsonpath={.spec.template.spec.securityContext.runAsUser}:{.spec.template.spec.securityContext.runAsGroup}';
    const declared = await at.kubectl.say(['get', 'deployment', 'outrigger-watcher', '-o', path]);
    expect(declared).toBe(at.programs.image.user);
    expect(declared).not.toMatch(/^(0|root|:)/);
  });

  it('are drained one at a time, and the other one goes on', async () => {
    const evict = async (name: string) => {
      const path = `/api/v1/namespaces/${systemNamespace}/pods/${name}/eviction`;
      const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
      return await at.client.request({ method: 'POST', path, body }).then(
        ({ status }) => status,
        (error: unknown) => String(error),
      );
    };
    const budget = ['get', 'poddisruptionbudget', 'outrigger-watcher', '-o', 'jsonpath={.status.disruptionsAllowed}'];
    await expect.poll(() => at.kubectl.say(budget), { timeout: 60_000 }).toBe('1');
    const [first, second] = at.running();
    expect(await evict(first?.pod ?? '')).toBe(201);
    expect(await evict(second?.pod ?? '')).toContain('disruption budget');
    await at.applyTank('drained');
    expect(await tanksSeen(['drained'])).toEqual(['drained']);
    await at.rolledOut();
    expect(first?.ended()).toBe('exit status 0');
  });

  it('are rolled when their settings change, each ends well, and no change is lost meanwhile', async () => {
    const before = at.running();
    const names = Array.from({ length: 40 }, (_, number) => `rolled-${number}`);
    await at.apply({ LOG_LEVEL: 'DEBUG' });
    const rolled = at.rolledOut();
    for (const name of names) await at.applyTank(name);
    await rolled;
    await expect
      .poll(() => before.map(({ ended }) => ended()), { timeout: 60_000 })
      .toEqual(before.map(() => 'exit status 0'));
    await at.applyTank('last');
    expect(await tanksSeen([...names, 'last'])).toEqual([...names, 'last'].sort());
    expect(at.running().length).toBe(2);
    expect(at.troubles.filter((line) => /probes failed|started anew/.test(line))).toEqual([]);
  });

  it('are started anew, alone, when they hang', async () => {
    const [hanging, other] = at.running();
    if (hanging === undefined || other === undefined) throw new Error('there are not two watchers');
    process.kill(hanging.pid, 'SIGSTOP');
    await at.probed(({ pod, probe, ok }) => pod === hanging.pod && probe === 'liveness' && !ok);
    await at.probed(({ pod, probe, ok }) => pod === hanging.pod && probe === 'readiness' && ok);
    expect(hanging.ended()).toBe('signal SIGKILL');
    expect(other.ended()).toBeUndefined();
    expect(at.running().map(({ pod }) => pod)).toEqual([other.pod, hanging.pod]);
    const path = 'jsonpath={.status.containerStatuses[0].restartCount}';
    expect(await at.kubectl.say(['get', 'pod', hanging.pod, '-o', path])).toBe('1');
  });

  it('leave nothing behind when the manifests are deleted', async () => {
    await at.kubectl.say(['delete', '-k', base, '--ignore-not-found', '--timeout=150s']);
    const kinds = 'clusterroles,clusterrolebindings,flowschemas,prioritylevelconfigurations,crds,namespaces';
    const left = await at.kubectl.say(['get', kinds, '-o', 'name']);
    expect(left.split('\n').filter((name) => /outrigger|example\.com/.test(name))).toEqual([]);
    await expect.poll(() => at.running().length, { timeout: 60_000 }).toBe(0);
  });
});
