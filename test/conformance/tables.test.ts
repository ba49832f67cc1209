// Conformance: Tables, which kubectl prints. The CRD declares the columns and the JSONPaths of the cells.
import { expect, it } from 'vitest';
import { gadget, gadgets } from './gadget.ts';
import { useSuite } from './suite.ts';

const tableType = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const tableOrJson = `${tableType},application/json`;

const { wire, namespace, createGadget } = await useSuite();

it('a table has the column Name and the printer columns, with type and priority', async () => {
  const ns = await namespace();
  const { body } = await wire.get(gadgets(ns), {}, tableOrJson);
  expect(body).toMatchObject({ apiVersion: 'meta.k8s.io/v1', kind: 'Table' });
  expect(body.rows).toEqual([]);
  expect(body.columnDefinitions).toMatchObject([
    { name: 'Name', type: 'string', format: 'name', priority: 0 },
    { name: 'Size', type: 'integer', format: '', description: 'How big it is.', priority: 0 },
    { name: 'Ready', type: 'string', priority: 0 },
    { name: 'Color', type: 'string', priority: 1 },
    { name: 'Age', type: 'date', priority: 0 },
  ]);
});

it('a table row has a cell for each column, null for an absent field, and the metadata of its object', async () => {
  const { ns } = await createGadget({ size: 3 });
  await wire.post(gadgets(ns), gadget('two', { size: 4, color: 'red' }));
  await wire.mergePatch(gadgets(ns, 'two', 'status'), { status: { conditions: [{ type: 'Ready', status: 'False' }] } });
  const { body } = await wire.get(gadgets(ns), {}, tableOrJson);
  expect(body.rows?.map((row) => row.cells?.slice(0, 4))).toEqual([
    ['one', 3, null, null],
    ['two', 4, 'False', 'red'],
  ]);
  expect(body.rows?.[0]?.cells?.[4]).toMatch(/^\d+s$/);
  expect(body.rows?.[0]?.object).toMatchObject({
    kind: 'PartialObjectMetadata',
    metadata: { name: 'one', namespace: ns },
  });
  expect(body.metadata?.resourceVersion).toMatch(/^\d+$/);
});

it('includeObject selects no object, its metadata or the whole object for a table row', async () => {
  const { ns } = await createGadget({ size: 3 });
  const row = async (includeObject: string) =>
    (await wire.get(gadgets(ns), { includeObject }, tableType)).body.rows?.[0];
  expect((await row('None'))?.object ?? null).toBeNull();
  expect((await row('Metadata'))?.object?.spec).toBeUndefined();
  expect((await row('Object'))?.object).toMatchObject({ kind: 'Gadget', spec: { size: 3 } });
});

it('a table of one object has one row, and a list as a table has pages', async () => {
  const { ns, main } = await createGadget();
  await wire.post(gadgets(ns), gadget('two'));
  expect((await wire.get(main, {}, tableType)).body.rows?.map((row) => row.cells?.[0])).toEqual(['one']);
  const page = (await wire.get(gadgets(ns), { limit: 1 }, tableType)).body;
  expect(page.metadata?.remainingItemCount).toBe(1);
  const next = (await wire.get(gadgets(ns), { continue: page.metadata?.continue ?? '' }, tableType)).body;
  expect(next.rows?.map((row) => row.cells?.[0])).toEqual(['two']);
});

it('an error response to a request for a table is a Status', async () => {
  const ns = await namespace();
  expect((await wire.get(gadgets(ns, 'missing'), {}, tableOrJson)).body).toMatchObject({ kind: 'Status', code: 404 });
});

it('a watch as tables has the columns only in its first event', async () => {
  const { ns, main, made } = await createGadget({ size: 3 });
  await using watch = await wire.watch(gadgets(ns), {}, tableType);
  const first = await watch.next();
  expect(first.object.columnDefinitions?.map((column) => column.name)).toContain('Size');
  await wire.mergePatch(main, { spec: { size: 5 } });
  const second = await watch.next();
  expect(second).toMatchObject({ type: 'MODIFIED', object: { kind: 'Table', columnDefinitions: null } });
  expect(second.object.rows?.[0]?.cells?.slice(0, 2)).toEqual(['one', 5]);
  expect(second.object.rows?.[0]?.object?.metadata?.uid).toBe(made.metadata?.uid);
});

it('a table of config maps has a column with the number of keys', async () => {
  const ns = await namespace();
  const maps = `/api/v1/namespaces/${ns}/configmaps`;
  await wire.post(maps, { metadata: { name: 'two-keys' }, data: { a: 'b', c: 'd' } });
  const { body } = await wire.get(`${maps}/two-keys`, {}, tableOrJson);
  expect(body.columnDefinitions?.map((column) => column.name)).toEqual(['Name', 'Data', 'Age']);
  expect(body.rows?.[0]?.cells?.slice(0, 2)).toEqual(['two-keys', 2]);
});

const text = expect.any(String);
it.each<[string, string, object, readonly unknown[]]>([
  [
    'a load balancer without an address',
    'api/v1/NS/services',
    { spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } },
    ['one', 'LoadBalancer', text, '<pending>', expect.stringMatching(/^80:3\d{4}\/TCP$/), text, '<none>'],
  ],
  [
    'a service with external IPs',
    'api/v1/NS/services',
    { spec: { clusterIP: 'None', externalIPs: ['10.9.0.1', '10.9.0.2'], ports: [{ port: 80 }] } },
    ['one', 'ClusterIP', 'None', '10.9.0.1,10.9.0.2', '80/TCP', expect.any(String), '<none>'],
  ],
  [
    'a role binding',
    'apis/rbac.authorization.k8s.io/v1/NS/rolebindings',
    {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
      subjects: [
        ...['User u', 'User v', 'Group g'].map((text) => ({ kind: text.slice(0, -2), name: text.slice(-1) })),
        { kind: 'ServiceAccount', name: 's', namespace: 'n' },
      ],
    },
    ['one', 'Role/r', expect.any(String), 'u, v', 'g', 'n/s'],
  ],
  [
    'K17: an Ingress',
    'apis/networking.k8s.io/v1/NS/ingresses',
    { spec: { ingressClassName: 'x', rules: ['a', 'b', 'c', 'd'].map((host) => ({ host })), tls: [{ hosts: ['a'] }] } },
    ['one', 'x', 'a,b,c + 1 more...', '', '80, 443', text],
  ],
  [
    'K17: an autoscaler',
    'apis/autoscaling/v2/NS/horizontalpodautoscalers',
    { spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' }, maxReplicas: 3 } },
    ['one', 'Deployment/a', 'cpu: <unknown>/80%', '1', 3, 0, text],
  ],
  [
    'K17: a budget',
    'apis/policy/v1/NS/poddisruptionbudgets',
    { spec: { minAvailable: '50%' } },
    ['one', '50%', 'N/A', 0, text],
  ],
  [
    'K17: a claim',
    'api/v1/NS/persistentvolumeclaims',
    { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'x' } },
    ['one', 'Pending', '', '', '', 'x', '<unset>', text, 'Filesystem'],
  ],
  [
    'K17: a Job',
    'apis/batch/v1/NS/jobs',
    {
      spec: { suspend: true, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'i' }] } } },
    },
    ['one', expect.stringMatching(/^(Running|Suspended)$/), '0/1', '', text, 'a', 'i', expect.stringContaining('=')],
  ],
  [
    'K17: a network policy',
    'apis/networking.k8s.io/v1/NS/networkpolicies',
    { spec: { podSelector: { matchLabels: { a: 'b' } } } },
    ['one', 'a=b', text],
  ],
])('the table row of %s has its cells', async (_what, at, content, cells) => {
  const path = `/${at.replace('NS', `namespaces/${await namespace()}`)}`;
  const made = await wire.post(path, { metadata: { name: 'one' }, ...content });
  expect(made.status).toBe(201);
  expect((await wire.get(`${path}/one`, {}, tableType)).body.rows?.[0]?.cells).toEqual(cells);
});
