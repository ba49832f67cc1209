// Conformance: the status and scale subresources: which fields can be written through which path. What is rejected is in
// rejections.test.ts.
import { expect, it } from 'vitest';
import { gadget, gadgets } from './gadget.ts';
import { useSuite } from './suite.ts';

const { wire, namespace, createGadget } = await useSuite({ controllers: 'none' });

it('a create drops the status', async () => {
  const ns = await namespace();
  const made = await wire.post(gadgets(ns), { ...gadget('one'), status: { phase: 'Up' } });
  expect(made.status).toBe(201);
  expect(made.body.status).toBeUndefined();
});

it('a write of spec and status to the object stores the spec and drops the status', async () => {
  const { main, status } = await createGadget();
  await wire.mergePatch(status, { status: { phase: 'Up' } });
  const patched = await wire.mergePatch(main, { spec: { size: 2 }, status: { phase: 'Down' } });
  expect(patched.body).toMatchObject({ spec: { size: 2 }, status: { phase: 'Up' } });
  const replaced = await wire.put(main, { ...patched.body, spec: { size: 3 }, status: { phase: 'Down' } });
  expect(replaced.body).toMatchObject({ spec: { size: 3 }, status: { phase: 'Up' } });
});

it('a patch of only the status to the object changes nothing', async () => {
  const { main } = await createGadget();
  const before = await wire.get(main);
  const patched = await wire.mergePatch(main, { status: { phase: 'Down' } });
  expect(patched.status).toBe(200);
  expect(patched.body).toEqual(before.body);
});

it('a write to /status drops spec and labels and keeps the generation', async () => {
  const { status, main } = await createGadget();
  const content = {
    spec: { size: 9 },
    metadata: { labels: { a: 'b' }, finalizers: ['example.org/x'] },
    status: { phase: 'Up' },
  };
  const patched = await wire.mergePatch(status, content);
  expect(patched.body).toMatchObject({ metadata: { generation: 1 }, spec: { size: 1 }, status: { phase: 'Up' } });
  expect(patched.body.metadata?.labels).toBeUndefined();
  expect(patched.body.metadata?.finalizers).toBeUndefined();
  const replaced = await wire.put(status, { ...patched.body, spec: { size: 9 }, status: { phase: 'Down' } });
  expect(replaced.body).toMatchObject({ metadata: { generation: 1 }, spec: { size: 1 }, status: { phase: 'Down' } });
  expect((await wire.get(main)).body).toEqual(replaced.body);
});

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const workload = { replicas: 0, selector: { matchLabels: { a: 'b' } }, template };
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const everything = ['annotations', 'finalizers', 'labels'];
it.each<[string, string, object, string[]]>([
  ['deployments', '/apis/apps/v1', workload, ['annotations', 'finalizers']],
  ['statefulsets', '/apis/apps/v1', { ...workload, serviceName: 's' }, everything],
  ['pods', '/api/v1', template.spec, everything],
  ['resourcequotas', '/api/v1', { hard: { pods: '1' } }, everything],
  ['services', '/api/v1', { ports: [{ port: 80 }] }, everything],
  ['poddisruptionbudgets', '/apis/policy/v1', { minAvailable: 1 }, everything],
  ['persistentvolumeclaims', '/api/v1', claim, everything],
])('a replacement of the status of %s writes most metadata', async (plural, group, spec, written) => {
  const path = `${group}/namespaces/${await namespace()}/${plural}`;
  const made = await wire.post(path, { metadata: { name: 'one' }, spec });
  expect(made.status).toBe(201);
  const given = { labels: { x: 'y' }, annotations: { x: 'y' }, finalizers: ['example.org/x'] };
  const { body } = await wire.put(`${path}/one/status`, {
    ...made.body,
    metadata: { name: 'one', resourceVersion: made.body.metadata?.resourceVersion, ...given },
  });
  const { metadata = {} } = body;
  expect(
    Object.keys(metadata)
      .filter((one) => everything.includes(one))
      .sort(),
  ).toEqual(written);
  await wire.mergePatch(`${path}/one`, { metadata: { finalizers: null } });
});

const balanced = (path: string, spec: object, address: object, field: string) => [path, spec, address, field] as const;
const backend = { defaultBackend: { service: { name: 's', port: { number: 80 } } } };
const ports = [{ port: 80 }];
it.each([
  balanced('/api/v1/services', { ports }, { hostname: 'a.example.org' }, 'status.loadBalancer.ingress'),
  balanced('/api/v1/services', { ports, type: 'LoadBalancer' }, { ip: '10.0.0' }, 'status.loadBalancer.ingress[0].ip'),
  balanced(
    '/apis/networking.k8s.io/v1/ingresses',
    backend,
    { hostname: '10.0.0.1' },
    'status.loadBalancer.ingress[0].hostname',
  ),
  balanced(
    '/apis/networking.k8s.io/v1/ingresses',
    backend,
    { hostname: 'a_b' },
    'status.loadBalancer.ingress[0].hostname',
  ),
])('in %s with %j the address %j is Invalid at %s', async (at, spec, address, field) => {
  const path = at.replace(/(\w+)$/, `namespaces/${await namespace()}/$1`);
  expect((await wire.post(path, { metadata: { name: 'one' }, spec })).status).toBe(201);
  const { body } = await wire.mergePatch(`${path}/one/status`, { status: { loadBalancer: { ingress: [address] } } });
  expect(body.details?.causes?.map((cause) => cause.field)).toContain(field);
});

const selected = { selector: { matchLabels: { a: 'b' } }, template };
const apps = (plural: string) => ({ path: `/apis/apps/v1/${plural}`, spec: { ...selected, serviceName: 's' } });
const never = { spec: { ...template.spec, restartPolicy: 'Never' } };
const jobs = { path: '/apis/batch/v1/jobs', spec: { template: never } };
const replicaSets = { path: '/apis/apps/v1/replicasets', spec: { ...selected, replicas: 0 } };
const condition = (type: string) => ({ type, status: 'True' });
const at = (second: number) => `2026-01-01T00:00:0${second}Z`;
const completed = {
  startTime: at(0),
  completionTime: at(1),
  succeeded: 1,
  conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
};
it.each<[string, { path: string; spec: object }, object, string[]]>([
  ['a negative count', apps('deployments'), { unavailableReplicas: -1 }, ['status.unavailableReplicas']],
  ['more ready than all', apps('deployments'), { replicas: 1, readyReplicas: 2 }, ['status.readyReplicas']],
  [
    'more available than ready',
    apps('statefulsets'),
    { replicas: 2, readyReplicas: 1, availableReplicas: 2 },
    ['status.availableReplicas'],
  ],
  ['more current than all', apps('statefulsets'), { currentReplicas: 1 }, ['status.currentReplicas']],
  ['more labeled than all', replicaSets, { replicas: 0, fullyLabeledReplicas: 1 }, ['status.fullyLabeledReplicas']],
  ['a negative count of a DaemonSet', apps('daemonsets'), { numberReady: -1 }, ['status.numberReady']],
  [
    'Complete alone',
    jobs,
    { conditions: [condition('Complete')] },
    ['status.completionTime', 'status.conditions', 'status.startTime'],
  ],
  ['Failed alone', jobs, { startTime: at(0), conditions: [condition('Failed')] }, ['status.conditions']],
  [
    'an end before its start',
    jobs,
    { ...completed, completionTime: at(0), startTime: at(1) },
    ['status.completionTime'],
  ],
  ['active pods at its end', jobs, { ...completed, active: 1 }, ['status.active']],
  ['more ready than active', jobs, { active: 1, ready: 2 }, ['status.ready']],
])('a status with %s is Invalid', async (_what, { path, spec }, status, fields) => {
  const { body } = await wire.mergePatch(await statusOf({ path, spec }), { status });
  expect(body.details?.causes?.map((cause) => cause.field).sort()).toEqual(fields);
});

const volume = { ...claim, storageClassName: 'none' };
const scaler = { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, maxReplicas: 2 };
const budgets = { path: '/apis/policy/v1/poddisruptionbudgets', spec: { minAvailable: 1 } };
const pods = { path: '/api/v1/pods', spec: template.spec };
const claims = { path: '/api/v1/persistentvolumeclaims', spec: volume };
const scalers = { path: '/apis/autoscaling/v2/horizontalpodautoscalers', spec: scaler };

/** Creates an object and returns the path of its status. */
async function statusOf({ path, spec }: { path: string; spec: object }): Promise<string> {
  const collection = path.replace(/(\w+)$/, `namespaces/${await namespace()}/$1`);
  expect((await wire.post(collection, { metadata: { name: 'one' }, spec })).status).toBe(201);
  return `${collection}/one/status`;
}

const natural = 'Invalid value: -1: must be a non-negative integer';
it.each<[string, { path: string; spec: object }, object, string[]]>([
  ['a negative generation', pods, { observedGeneration: -1 }, [natural]],
  ['a condition of a pod', pods, { conditions: [{ ...condition('Ready'), observedGeneration: -1 }] }, [natural]],
  [
    'a condition',
    budgets,
    { conditions: [{ ...condition('Up'), observedGeneration: -1, lastTransitionTime: at(0), reason: '1x' }] },
    [
      'Invalid value: "1x": a condition reason must start with alphabetic character, optionally followed by a string ' +
        "of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  " +
        "or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is " +
        "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')",
      'Invalid value: -1: must be greater than or equal to zero',
    ],
  ],
  ['an amount', claims, { capacity: { storage: '-1500m' } }, ['Invalid value: -2: must be a valid resource quantity']],
])('a status with %s is refused with the message of Kubernetes', async (_what, kind, status, messages) => {
  const { body } = await wire.mergePatch(await statusOf(kind), { status });
  expect(body.details?.causes?.map((cause) => cause.message).sort()).toEqual(messages);
});

const nameless = {
  type: 'Object',
  object: { describedObject: { kind: '', name: '' }, metric: { name: '' }, current: {} },
};
const resources = { limits: { cpu: '1' }, requests: { cpu: '2' } };
it.each<[string, { path: string; spec: object }, object]>([
  ['a container', pods, { containerStatuses: [{ name: 'c', resources }] }],
  ['a metric', scalers, { currentMetrics: [nameless] }],
])('a status has %s that a spec could not have', async (_what, kind, status) => {
  expect((await wire.mergePatch(await statusOf(kind), { status })).status).toBe(200);
});

it('the status of a pod has the class that it had, whether a write says it or not', async () => {
  const container = { name: 'c', image: 'i', resources: { requests: { cpu: '1' } } };
  const path = await statusOf({ path: '/api/v1/pods', spec: { containers: [container] } });
  await wire.mergePatch(path, { status: { phase: null } });
  const { body } = await wire.get(path);
  expect(body.status).toHaveProperty('qosClass');
  for (const status of [{}, { qosClass: 'Burstable' }]) {
    const { metadata, ...pod } = body;
    const written = await wire.put(path, { ...pod, metadata: { name: metadata?.name }, status });
    expect(written.status).toBe(200);
    expect(written.body.status).toEqual(expect.objectContaining(body.status));
  }
});

it.each([
  ['Never', 'Always', {}, 200],
  ['Always', 'Never', {}, 422],
  ['Never', 'Never', { restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }] }, 200],
])('in a pod of policy %s a container of policy %s with %j starts again with code %i', async (ofPod, own, rules, code) => {
  const container = { name: 'c', image: 'i', restartPolicy: own, ...rules };
  const path = await statusOf({ path: '/api/v1/pods', spec: { restartPolicy: ofPod, containers: [container] } });
  const write = (state: object) => wire.mergePatch(path, { status: { containerStatuses: [{ name: 'c', state }] } });
  expect((await write({ terminated: { exitCode: 1 } })).status).toBe(200);
  expect((await write({ running: {} })).status).toBe(code);
});

it('a collision count that was given is given again', async () => {
  const path = await statusOf(apps('deployments'));
  await wire.mergePatch(path, { status: { collisionCount: 0 } });
  const { body } = await wire.mergePatch(path, { status: { collisionCount: null } });
  expect(body.details?.causes).toMatchObject([{ message: 'Invalid value: 0: cannot be decremented' }]);
});

it('a Job completes, and does not become active again', async () => {
  const collection = `/apis/batch/v1/namespaces/${await namespace()}/jobs`;
  await wire.post(collection, { metadata: { name: 'one' }, spec: jobs.spec });
  const write = (status: object) => wire.mergePatch(`${collection}/one/status`, { status });
  expect((await write(completed)).body.status).toMatchObject(completed);
  const { body } = await write({ conditions: null, completionTime: null, succeeded: 0 });
  expect(body.details?.causes?.map((cause) => cause.message).sort()).toEqual([
    'Invalid value: 0: cannot decrease the succeeded counter',
    'Invalid value: cannot disable the SuccessCriteriaMet=True condition',
    'Invalid value: cannot disable the terminal Complete=True condition',
  ]);
});

it('a replacement of the status of a namespace without labels keeps that of its name, and its phase', async () => {
  const path = `/api/v1/namespaces/${await namespace()}`;
  const { body } = await wire.get(path);
  const { name, resourceVersion } = body.metadata ?? {};
  const replaced = await wire.put(`${path}/status`, { metadata: { name, resourceVersion }, status: {} });
  expect(replaced.body).toMatchObject({ metadata: { labels: body.metadata?.labels }, status: { phase: 'Active' } });
  const { body: refused } = await wire.mergePatch(`${path}/status`, { status: { phase: 'Terminating' } });
  expect(refused.details?.causes).toMatchObject([{ field: 'status.Phase' }]);
});

it('a write of an unchanged status keeps the version', async () => {
  const { status } = await createGadget();
  const first = await wire.mergePatch(status, { status: { phase: 'Up' } });
  const second = await wire.mergePatch(status, { status: { phase: 'Up' } });
  expect(second.body.metadata?.resourceVersion).toBe(first.body.metadata?.resourceVersion);
});

it('a write to /status prunes the unknown fields of the status', async () => {
  const { status } = await createGadget();
  expect((await wire.mergePatch(status, { status: { phase: 'Up', nope: 1 } })).body.status).toEqual({ phase: 'Up' });
});

it('a GET of /status returns the object', async () => {
  const { main, status } = await createGadget();
  expect((await wire.get(status)).body).toEqual((await wire.get(main)).body);
});

it('a write of generation and creationTimestamp to the object or /status is ignored', async () => {
  const { main, status } = await createGadget();
  const { body } = await wire.get(main);
  const metadata = { generation: 44, creationTimestamp: '2001-01-01T00:00:00Z' };
  await wire.mergePatch(main, { metadata });
  await wire.mergePatch(status, { metadata });
  expect((await wire.get(main)).body).toEqual(body);
});

it('the scale subresource returns the replicas at the declared paths', async () => {
  const { status, scale, ns } = await createGadget({ size: 4 });
  await wire.mergePatch(status, { status: { replicas: 3, selector: 'a=b' } });
  expect((await wire.get(scale)).body).toMatchObject({
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'one', namespace: ns },
    spec: { replicas: 4 },
    status: { replicas: 3, selector: 'a=b' },
  });
});

it('a write of the scale subresource changes the spec and raises the generation', async () => {
  const { main, scale } = await createGadget({ size: 4 });
  expect((await wire.mergePatch(scale, { spec: { replicas: 6 } })).body.spec).toEqual({ replicas: 6 });
  expect((await wire.get(main)).body).toMatchObject({ metadata: { generation: 2 }, spec: { size: 6 } });
  const { body } = await wire.get(scale);
  await wire.put(scale, { ...body, spec: { replicas: 7 } });
  expect((await wire.get(main)).body).toMatchObject({ metadata: { generation: 3 }, spec: { size: 7 } });
});

it('a Scale without replicas has an empty spec, and its replicas must be a whole number', async () => {
  const { scale } = await createGadget({ size: 0 });
  expect((await wire.get(scale)).body.spec).toEqual({});
  const rejected = await wire.mergePatch(scale, { spec: { replicas: 'three' } });
  expect(rejected.body).toMatchObject({ code: 422, details: { causes: [{ field: 'patch' }] } });
});
