// Conformance: the kinds that controllers create as children, where the API server alone decides: generations, status,
// lists of containers, ports and variables, and canonical quantities. Rolling out a Deployment is not part of this
// suite.
import { expect, it } from 'vitest';
import { useSuite } from './suite.ts';

/** Returns a Deployment without replicas, so that no workload controller takes part. */
function deployment(container: object = {}, replicas = 0): object {
  const labels = { app: 'one' };
  const containers = [{ name: 'main', image: 'example.org/main:1', ...container }];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'one', labels },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  };
}

const { wire, namespace } = await useSuite();

const deployments = async (): Promise<string> => `/apis/apps/v1/namespaces/${await namespace()}/deployments`;

it.each([
  ['deployments', 'apps/v1', 'Deployment', {}],
  ['statefulsets', 'apps/v1', 'StatefulSet', { serviceName: 'one' }],
])('%s have a generation, which only the spec raises', async (resource, apiVersion, kind, extra) => {
  const path = `/apis/${apiVersion}/namespaces/${await namespace()}/${resource}`;
  const template = { metadata: { labels: { app: 'one' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const spec = { replicas: 0, selector: { matchLabels: { app: 'one' } }, template, ...extra };
  const made = await wire.post(path, { apiVersion, kind, metadata: { name: 'one' }, spec });
  expect(made).toMatchObject({ status: 201, body: { metadata: { generation: 1 } } });
  const status = { status: { replicas: 0, observedGeneration: 77 } };
  expect((await wire.mergePatch(`${path}/one/status`, status)).body.metadata?.generation).toBe(1);
  const grown = await wire.mergePatch(`${path}/one`, { spec: { replicas: 0, minReadySeconds: 3 } });
  expect(grown.body).toMatchObject({ metadata: { generation: 2 }, spec: { minReadySeconds: 3 } });
});

it('an annotation of a Deployment raises the generation, except in a write to /status', async () => {
  const path = await deployments();
  await wire.post(path, deployment());
  const annotations = { 'deployment.kubernetes.io/revision': '1' };
  const noted = await wire.mergePatch(`${path}/one/status`, { metadata: { annotations } });
  expect(noted.body.metadata).toMatchObject({ generation: 1, annotations });
  const changed = await wire.mergePatch(`${path}/one`, { metadata: { annotations: { note: 'x' } } });
  expect(changed.body.metadata?.generation).toBe(2);
});

it('a repeated apply of a Deployment keeps generation and managedFields', async () => {
  const path = await deployments();
  const container = {
    ports: [{ containerPort: 80 }, { containerPort: 80, protocol: 'UDP' }],
    env: [{ name: 'A', value: '1' }],
    resources: { requests: { cpu: '0.5', memory: '1024Mi' } },
  };
  const made = await wire.apply(`${path}/one`, 'alpha', deployment(container));
  expect(made.status).toBe(201);
  const managed = (body: typeof made.body) =>
    body.metadata?.managedFields?.filter((entry) => entry.manager === 'alpha');
  const again = await wire.apply(`${path}/one`, 'alpha', deployment(container));
  expect(again.body.metadata?.generation).toBe(1);
  expect(managed(again.body)).toEqual(managed(made.body));
});

it('quantities of a Deployment are stored in canonical form', async () => {
  const path = await deployments();
  const requests = { cpu: '0.5', memory: '1024Mi' };
  await wire.apply(`${path}/one`, 'alpha', deployment({ resources: { requests } }));
  const read = JSON.parse((await wire.get(`${path}/one`)).text);
  expect(read.spec.template.spec.containers[0].resources).toEqual({ requests: { cpu: '500m', memory: '1Gi' } });
});

it('containers, ports and variables of a Deployment have separate owners', async () => {
  const path = await deployments();
  const env = [{ name: 'A', value: '1' }];
  await wire.apply(`${path}/one`, 'alpha', deployment({ env, ports: [{ containerPort: 80 }] }));
  const more = deployment({ env: [{ name: 'B', value: '2' }], ports: [{ containerPort: 81 }] });
  const both = JSON.parse((await wire.apply(`${path}/one`, 'beta', more)).text).spec.template.spec.containers[0];
  expect(both.env).toEqual([...env, { name: 'B', value: '2' }]);
  expect(both.ports).toMatchObject([{ containerPort: 80 }, { containerPort: 81 }]);
  const less = JSON.parse((await wire.apply(`${path}/one`, 'alpha', deployment())).text).spec.template.spec
    .containers[0];
  expect(less.env).toEqual([{ name: 'B', value: '2' }]);
  expect(less.ports).toMatchObject([{ containerPort: 81 }]);
  const conflict = await wire.apply(`${path}/one`, 'beta', deployment({ image: 'example.org/main:2' }));
  expect(conflict.body.details?.causes).toMatchObject([
    { field: '.spec.template.spec.containers[name="main"].image', message: 'conflict with "alpha"' },
  ]);
});

it('a Deployment with a selector that does not match its template is Invalid', async () => {
  const path = await deployments();
  const rejected = await wire.post(path, {
    ...deployment(),
    spec: {
      selector: { matchLabels: { app: 'one' } },
      template: { metadata: { labels: { app: 'two' } }, spec: { containers: [] } },
    },
  });
  expect(rejected.body).toMatchObject({ code: 422, reason: 'Invalid' });
});

it('a write of the scale subresource changes the replicas of a Deployment', async () => {
  const path = await deployments();
  await wire.post(path, deployment());
  expect((await wire.get(`${path}/one/scale`)).body).toMatchObject({ kind: 'Scale', spec: {} });
  const matchExpressions = [
    { key: 'c', operator: 'In', values: ['e', 'd'] },
    { key: 'b', operator: 'DoesNotExist' },
  ];
  const template = { metadata: { labels: { a: 'b', c: 'd' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const spec = { replicas: 0, selector: { matchLabels: { a: 'b' }, matchExpressions }, template };
  await wire.post(path, { metadata: { name: 'two' }, spec });
  expect((await wire.get(`${path}/two/scale`)).body.status).toMatchObject({ selector: 'a=b,!b,c in (d,e)' });
  const paused = await wire.mergePatch(`${path}/one`, { spec: { paused: true } });
  expect(paused.status).toBe(200);
  await wire.mergePatch(`${path}/one/scale`, { spec: { replicas: 2 } });
  expect((await wire.get(`${path}/one`)).body).toMatchObject({ metadata: { generation: 3 }, spec: { replicas: 2 } });
});

it('an apply of the Scale of a Deployment owns the replicas', async () => {
  const path = await deployments();
  await wire.post(path, deployment());
  const content = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'one' }, spec: { replicas: 1 } };
  const applied = await wire.apply(`${path}/one/scale`, 'alpha', content, { force: true });
  expect(applied.body.spec).toEqual({ replicas: 1 });
  const { metadata } = (await wire.get(`${path}/one`)).body;
  const own = metadata?.managedFields?.find(({ manager }) => manager === 'alpha');
  expect(own).toMatchObject({ operation: 'Apply', subresource: 'scale', fieldsV1: { 'f:spec': { 'f:replicas': {} } } });
});

const fixed = 'pod updates may not change fields other than `spec.containers[*].image`';
const container = { name: 'c', image: 'i' };
const gated = { schedulingGates: [{ name: 'example.org/a' }, { name: 'example.org/b' }] };
const toleration = { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 };
const tolerated = { tolerations: [toleration] };
const others = [2, 1].map((tolerationSeconds, at) => ({ ...toleration, tolerationSeconds, key: at === 0 ? 'a' : 'b' }));
const env = { name: 'A' };
const of = (fields: object) => ({ containers: [{ ...container, ...fields }] });
const isFixed = [{ field: 'spec', message: expect.stringContaining(fixed) }];
const oneMore = 'Forbidden: pod updates may not add or remove containers';
const isOneMore = [{ field: 'spec.containers', message: oneMore }];
const newGate = "Forbidden: only deletion is allowed, but found new scheduling gate 'example.org/a'";
const isNewGate = [{ field: 'spec.schedulingGates[0].name', message: newGate }];
const seconds = 'Forbidden: existing toleration can not be modified except its tolerationSeconds';
const isToleration = [{ field: 'spec.tolerations', message: seconds }];
it.each<[string, object, object, readonly object[]]>([
  ['changes the image of a container', {}, { ...of({ image: 'j' }), activeDeadlineSeconds: 9 }, []],
  ['changes the command of a container', {}, of({ command: ['x'] }), isFixed],
  ['changes the host network', {}, { hostNetwork: true }, isFixed],
  ['adds a container', {}, { containers: [container, { ...container, name: 'd' }] }, isOneMore],
  ['sets absent fields to zero values', {}, { hostNetwork: false, hostname: '' }, []],
  ['drops an empty command and value', of({ command: [], env: [{ ...env, value: '' }] }), of({ env: [env] }), []],
  ['drops an empty argument', of({ args: ['a', ''] }), of({ args: ['a'] }), isFixed],
  ['removes a scheduling gate', gated, { schedulingGates: [{ name: 'example.org/b' }] }, []],
  ['removes all scheduling gates', gated, { schedulingGates: null }, []],
  ['adds a scheduling gate', {}, { schedulingGates: [{ name: 'example.org/a' }] }, isNewGate],
  ['adds a node selector to a gated pod', gated, { nodeSelector: { a: 'b' } }, []],
  ['adds a node selector to a pod without gates', {}, { nodeSelector: { a: 'b' } }, isFixed],
  ['raises a negative grace period to 1', graceOf(-1), graceOf(1), []],
  ['changes a positive grace period to 1', graceOf(2), graceOf(1), isFixed],
  ['adds a toleration and changes the seconds of another', tolerated, { tolerations: others }, []],
  ['removes a toleration', tolerated, { tolerations: null }, isToleration],
])('a merge patch of a pod that %s has the causes of pod updates', async (_what, before, spec, causes) => {
  const pods = `/api/v1/namespaces/${await namespace()}/pods`;
  const made = await wire.post(pods, { metadata: { name: 'one' }, spec: { containers: [container], ...before } });
  expect(made.status).toBe(201);
  const { body } = await wire.mergePatch(`${pods}/one`, { spec });
  expect(body.details?.causes ?? []).toMatchObject(causes);
  expect(body.kind).toBe(causes.length === 0 ? 'Pod' : 'Status');
});

it('a second apply of a pod may drop zero values of the first one', async () => {
  const pods = `/api/v1/namespaces/${await namespace()}/pods`;
  const pod = (fields: object, more: object): object => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'one' },
    spec: { containers: [{ ...container, ...more }], ...fields },
  });
  const zeros = pod({ hostNetwork: false }, { command: [], env: [{ name: 'A', value: '' }] });
  expect((await wire.apply(`${pods}/one`, 'alpha', zeros)).status).toBe(201);
  expect((await wire.apply(`${pods}/one`, 'alpha', pod({}, { env: [{ name: 'A' }] }))).status).toBe(200);
});

it('the log of a pod without a node is empty', async () => {
  const pods = `/api/v1/namespaces/${await namespace()}/pods`;
  await wire.post(pods, { metadata: { name: 'one' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
  expect(await wire.get(`${pods}/one/log`)).toMatchObject({ status: 204, text: '' });
});

it('a new pod is Pending regardless of the body, and its status is changed through /status', async () => {
  const pods = `/api/v1/namespaces/${await namespace()}/pods`;
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'one' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  };
  const made = await wire.post(pods, { ...pod, status: { phase: 'Running' } });
  expect(made.body).toMatchObject({ metadata: { generation: 1 }, status: { phase: 'Pending' } });
  const conditions = [{ type: 'Ready', status: 'True' }];
  const running = await wire.mergePatch(`${pods}/one/status`, {
    status: { phase: 'Running', podIP: '10.1.2.3', conditions },
  });
  expect(running.body).toMatchObject({ metadata: { generation: 1 }, status: { phase: 'Running', podIP: '10.1.2.3' } });
  expect((await wire.remove(`${pods}/one`, { gracePeriodSeconds: 0 })).status).toBe(200);
  expect((await wire.get(`${pods}/one`)).status).toBe(404);
});

it('a service gets a cluster IP and keeps it, and a headless service gets none', async () => {
  const services = `/api/v1/namespaces/${await namespace()}/services`;
  const spec = { selector: { app: 'one' }, ports: [{ port: 80 }] };
  const made = await wire.post(services, { metadata: { name: 'one' }, spec });
  expect(made.body.spec).toMatchObject({ type: 'ClusterIP', clusterIP: expect.stringMatching(/^10\.0\.0\.\d+$/) });
  expect(made.body.spec?.ports).toMatchObject([{ port: 80, protocol: 'TCP', targetPort: 80 }]);
  const headless = await wire.post(services, { metadata: { name: 'two' }, spec: { ...spec, clusterIP: 'None' } });
  expect(headless.body.spec?.clusterIP).toBe('None');
  const kept = await wire.apply(`${services}/one`, 'alpha', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'one' },
    spec,
  });
  expect(kept.body.spec?.clusterIP).toBe(made.body.spec?.clusterIP);
});

it('an endpoint slice has a generation, and a label selector finds it by its service', async () => {
  const slices = `/apis/discovery.k8s.io/v1/namespaces/${await namespace()}/endpointslices`;
  const labels = { 'kubernetes.io/service-name': 'one' };
  const slice = {
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 80 }],
    endpoints: [{ addresses: ['10.1.2.3'], conditions: { ready: true } }],
  };
  const made = await wire.post(slices, { metadata: { name: 'one-abc', labels }, ...slice });
  expect(made).toMatchObject({ status: 201, body: { metadata: { generation: 1 } } });
  const found = await wire.get(slices, { labelSelector: 'kubernetes.io/service-name=one' });
  expect(found.body.items?.map((item) => item.metadata?.name)).toEqual(['one-abc']);
  const changed = await wire.mergePatch(`${slices}/one-abc`, { endpoints: [] });
  expect(changed.body.metadata?.generation).toBe(2);
});

function graceOf(seconds: number): object {
  return { terminationGracePeriodSeconds: seconds };
}
