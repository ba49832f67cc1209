// Conformance: what a cluster refuses in the children of a controller: pod templates, Services, counts, labels and names.
import { expect, it } from 'vitest';
import { useSuite } from './suite.ts';

const container = { name: 'a', image: 'i' };
const labels = { app: 'a' };
const tooLong = 'x'.repeat(64);

/** The spec of a workload with this pod. */
function workload(pod: object = {}, more: object = {}, podLabels: object = labels): object {
  const spec = { containers: [container], ...pod };
  return { selector: { matchLabels: labels }, template: { metadata: { labels: podLabels }, spec }, ...more };
}

const { wire, namespace } = await useSuite();

const causesOf = async (path: string, spec: object, name = 'one') => {
  const [group, version, resource = ''] = path.split('/');
  const root = group === 'core' ? `/api/${version}` : `/apis/${group}/${version}`;
  const url = `${root}/namespaces/${await namespace()}/${resource}`;
  const { status, body } = await wire.post(url, { metadata: { name }, spec });
  expect(status).toBe(422);
  return body.details?.causes?.map(({ field, message }) => [field, message]);
};
const template = 'spec.template.spec';

const withPort = (port: object) => [{ ...container, ports: [port] }];
const at = 'containers[0].ports[0]';
const badPort = 'Invalid value: 70000: must be between 1 and 65535, inclusive';
const longPort = 'Invalid value: "sixteen-letters1": must be no more than 15 characters';
const unmounted = [{ ...container, volumeMounts: [{ name: 'v', mountPath: '/v' }] }];

it.each([
  ['without an image', [{ name: 'a' }], 'containers[0].image', 'Required value'],
  ['with the name of another', [container, container], 'containers[1].name', 'Duplicate value: "a"'],
  ['with a port that does not exist', withPort({ containerPort: 70_000 }), `${at}.containerPort`, badPort],
  ['with too long a port name', withPort({ containerPort: 1, name: 'sixteen-letters1' }), `${at}.name`, longPort],
  ['with a mount of no volume', unmounted, 'containers[0].volumeMounts[0].name', 'Not found: "v"'],
])('a Deployment with a container %s is Invalid', async (_, containers, field, message) => {
  expect(await causesOf('apps/v1/deployments', workload({ containers }))).toEqual([[`${template}.${field}`, message]]);
});

it.each([
  ['deployments', 'deployment'],
  ['daemonsets', 'daemonset'],
  ['statefulsets', 'statefulset'],
])('%s with an empty selector are Invalid', async (resource, kind) => {
  expect(await causesOf(`apps/v1/${resource}`, workload({}, { selector: {}, serviceName: 's' }))).toEqual([
    ['spec.selector', `Invalid value: {}: empty selector is invalid for ${kind}`],
  ]);
});

it.each(['deployments', 'statefulsets'])('%s with a negative count are Invalid', async (resource) => {
  expect(await causesOf(`apps/v1/${resource}`, workload({}, { replicas: -1, serviceName: 's' }))).toEqual([
    ['spec.replicas', 'Invalid value: -1: must be greater than or equal to 0'],
  ]);
});

it('a label value of 64 characters is Invalid in a pod template, and in the selectors of Deployments and Services', async () => {
  const message = `Invalid value: "${tooLong}": must be no more than 63 bytes`;
  expect(await causesOf('apps/v1/deployments', workload({}, {}, { ...labels, long: tooLong }))).toEqual([
    ['spec.template.labels', message],
  ]);
  const selector = { matchLabels: { app: tooLong } };
  expect((await causesOf('apps/v1/deployments', workload({}, { selector }, { app: tooLong })))?.[0]).toEqual([
    'spec.selector.matchLabels',
    message,
  ]);
  expect(await causesOf('core/v1/services', { selector: { app: tooLong }, ports: [{ port: 80 }] })).toEqual([
    ['spec.selector', message],
  ]);
});

it('a Deployment that restarts never, and a Job that restarts always or by default, are Invalid', async () => {
  expect(await causesOf('apps/v1/deployments', workload({ restartPolicy: 'Never' }))).toEqual([
    [`${template}.restartPolicy`, 'Unsupported value: "Never": supported values: "Always"'],
  ]);
  for (const restart of [{}, { restartPolicy: 'Always' }]) {
    const job = { template: { spec: { containers: [container], ...restart } } };
    expect(await causesOf('batch/v1/jobs', job)).toEqual([
      [`${template}.restartPolicy`, 'Required value: valid values: "OnFailure", "Never"'],
    ]);
    const cronJob = { schedule: '* * * * *', jobTemplate: { spec: job } };
    expect((await causesOf('batch/v1/cronjobs', cronJob))?.[0]?.[0]).toBe(
      'spec.jobTemplate.spec.template.spec.restartPolicy',
    );
  }
});

it.each([
  ['two ports without names', { ports: [{ port: 80 }, { port: 81 }] }, ['spec.ports[0].name', 'spec.ports[1].name']],
  ['two ports with one name', { ports: [80, 81].map((port) => ({ port, name: 'a' })) }, ['spec.ports[1].name']],
  ['a port of 0', { ports: [{ port: 0 }] }, ['spec.ports[0].port', 'spec.ports[0].targetPort']],
  ['no ports', { selector: labels }, ['spec.ports']],
  ['an external name that is missing', { type: 'ExternalName' }, ['spec.externalName']],
])('a Service with %s is Invalid', async (_, spec, fields) => {
  expect((await causesOf('core/v1/services', spec))?.map(([field]) => field)).toEqual(fields);
});

it('a name of 64 characters is Invalid for a Service', async () => {
  expect(await causesOf('core/v1/services', { ports: [{ port: 80 }] }, tooLong)).toEqual([
    ['metadata.name', `Invalid value: "${tooLong}": must be no more than 63 characters`],
  ]);
});

it('a change of the type of a Secret is Invalid', async () => {
  const secrets = `/api/v1/namespaces/${await namespace()}/secrets`;
  await wire.post(secrets, { metadata: { name: 'one' }, data: {} });
  const { body } = await wire.mergePatch(`${secrets}/one`, { type: 'another' });
  expect(body.details?.causes).toMatchObject([
    { field: 'type', message: 'Invalid value: "another": field is immutable' },
  ]);
});
