// The meaning of each response of an API server, row by row, on any API server. What only a proxy sends is made here.
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { classifyResponse, type ResponseClass } from '../../../src/kube/client/classify.ts';
import { createClient, type KubeClient, type KubeRequest } from '../../../src/kube/client/client.ts';
import { ApiError, ConnectError, DeadlineError, ResponseError } from '../../../src/kube/client/errors.ts';
import { getObject } from '../../../src/kube/client/read.ts';
import { useApiServer } from '../../harness/api-server.ts';
import { applyDefinition } from '../../support/established.ts';
import { widgetDefinition } from '../../support/widget-crd.ts';
import { configMaps, useNamespace } from '../namespace.ts';
import { statusOf } from '../wire-server.ts';

const { connect } = await useApiServer();
const fixture = useNamespace(connect);
const uid = '00000000-0000-4000-8000-000000000000';
const group = 'reconcile.example.com';
let collection: string;
let widgets: string;
beforeAll(async () => {
  const client = createClient(connect());
  await applyDefinition(client, widgetDefinition);
  client.close();
});
beforeEach(() => {
  collection = `/api/v1/namespaces/${fixture.namespace}/configmaps`;
  widgets = `/apis/${group}/v1/namespaces/${fixture.namespace}/widgets`;
});

const configMap = (metadata: object, data?: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
const widget = (metadata: object) => ({ apiVersion: `${group}/v1`, kind: 'Widget', metadata, spec: {} });
const patch = (type: string, path: string, body: object, query: KubeRequest['query'] = {}): KubeRequest => ({
  method: 'PATCH',
  path,
  body,
  query,
  contentType: type === 'apply' ? 'application/apply-patch+yaml' : 'application/merge-patch+json',
});
const apply = (path: string, body: object, fieldManager = 'cases') => patch('apply', path, body, { fieldManager });
const classOf = async (request: KubeRequest, read?: Parameters<typeof classifyResponse>[1]) =>
  await fixture.client.request(request).then(
    ({ status }) => String(status),
    (error: unknown) => classifyResponse(error, read),
  );

const missing = { group: '', plural: 'configmaps', name: 'missing' };
const get = (path: string) => (): KubeRequest => ({
  method: 'GET',
  path: path.startsWith('/') ? path : `${collection}/${path}`,
});
const post = (name: string, path?: string) => (): KubeRequest => ({
  method: 'POST',
  path: path ?? collection,
  body: configMap({ name }),
});
const applied = (metadata: { readonly name: string; readonly [field: string]: string }, data?: object) => () =>
  apply(`${collection}/${metadata.name}`, configMap(metadata, data));
const ofUid = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } };
const atVersion1 = { metadata: { resourceVersion: '1' } };
it.each<[string, () => KubeRequest, ResponseClass | '201', Parameters<typeof classifyResponse>[1]?]>([
  ['GET of a missing object', get('missing'), 'gone', missing],
  ['GET in a missing namespace', get('/api/v1/namespaces/none/configmaps/missing'), 'gone', missing],
  ['GET of another missing object than asked for', get('other'), 'unusable', missing],
  ['DELETE of a missing object', () => ({ method: 'DELETE', path: `${collection}/missing` }), 'not-found'],
  ['PATCH of a missing object', () => patch('merge', `${collection}/missing`, { data: {} }), 'not-found'],
  ['POST into a missing namespace', post('one', '/api/v1/namespaces/none/configmaps'), 'not-found'],
  ['GET of a missing subresource', () => ({ method: 'GET', path: `${widgets}/one/none` }), 'not-found'],
  ['GET of the status of a ConfigMap', get('owner/status'), 'kind-not-served'],
  ['GET of a missing CRD', get('/apis/none.example.com/v1/nones/one'), 'kind-not-served'],
  ['GET of an unknown built-in', get('/api/v1/namespaces/default/nones/missing'), 'kind-not-served', missing],
  ['POST of an existing object', post('owner'), 'already-exists'],
  ['PATCH with a stale version', () => patch('merge', `${collection}/owner`, atVersion1), 'stale'],
  ['DELETE of another uid', () => ({ method: 'DELETE', path: `${collection}/owner`, body: ofUid }), 'stale'],
  ['apply of a missing object with a uid', applied({ name: 'new', uid }), 'stale'],
  ['apply of a missing object with a version alone', applied({ name: 'new', resourceVersion: '1' }), '201'],
  ['apply with another uid', () => apply(`${widgets}/one`, { ...widget({ name: 'one', uid }) }), 'other-object'],
  ['apply without force to a field of another manager', applied({ name: 'contested' }, { a: '2' }), 'field-conflict'],
  ['POST of an invalid object', post('In Valid'), 'invalid'],
])('%s', async (_, request, expected, read) => {
  await fixture.client.request(apply(`${widgets}/one`, widget({ name: 'one' })));
  await fixture.client.request(apply(`${collection}/contested`, configMap({ name: 'contested' }, { a: '1' }), 'other'));
  expect(await classOf(request(), read)).toBe(expected);
});

const api = (code: number, reason: string, details?: object) =>
  new ApiError('GET /x', code, statusOf(code, reason, details === undefined ? {} : { details }));
const read = { group: '', plural: 'configmaps', name: 'one' };
const notFound = (details: object) => api(404, 'NotFound', details);
const ofOtherGroup = notFound({ name: 'one', kind: 'configmaps', group: 'example.com' });
const terminating = { causes: [{ reason: 'NamespaceTerminating' }] };
it.each<[string, unknown, ResponseClass, Parameters<typeof classifyResponse>[1]?]>([
  ['404 to a read, with its name and resource', notFound({ name: 'one', kind: 'configmaps' }), 'gone', read],
  ['404 to a read, with the namespace of that name', notFound({ name: 'one', kind: 'namespaces' }), 'unusable', read],
  ['404 to a read, with that name and resource of another group', ofOtherGroup, 'unusable', read],
  ['404 to a read, with another reason', api(404, '', { name: 'one', kind: 'configmaps' }), 'unusable', read],
  ['401', api(401, 'Unauthorized'), 'unreachable'],
  ['408', new ApiError('GET /x', 408, ''), 'server-error'],
  ['429', api(429, 'TooManyRequests'), 'unreachable'],
  ['500 for an invalid version', api(500, ''), 'server-error'],
  ['503 of an aggregated API', new ApiError('GET /x', 503, 'service unavailable'), 'server-error'],
  ['504 of a cache', api(504, 'Timeout', { causes: [{ reason: 'ResourceVersionTooLarge' }] }), 'cache-behind'],
  ['403', api(403, 'Forbidden'), 'forbidden'],
  ['403 of a policy', api(403, 'Forbidden', { causes: [{ message: 'denied' }] }), 'policy-denied'],
  ['403 in a terminating namespace', api(403, 'Forbidden', terminating), 'namespace-terminating'],
  ['410', api(410, 'Expired'), 'expired'],
  ['404 of a load balancer', new ApiError('GET /x', 404, '<html>'), 'unusable'],
  ['404 page not found', new ApiError('GET /x', 404, '404 page not found\n'), 'kind-not-served'],
  ['404 with JSON that is no Status', new ApiError('GET /x', 404, { message: 'no' }), 'unusable'],
  ['404 without a body', new ApiError('GET /x', 404, undefined), 'unusable'],
  ['a redirect', new ApiError('GET /x', 302, ''), 'error'],
  ['an unusable body', new ResponseError('not JSON'), 'unusable'],
  ['no connection', new ConnectError('refused'), 'unreachable'],
  ['no response in time', new DeadlineError('late'), 'server-error'],
  ['an error of the author', new Error('404'), 'error'],
])('%s', (_, error, expected, target) => {
  expect(classifyResponse(error, target)).toBe(expected);
});

it.each<[string, { metadata?: object | string; apiVersion?: string; kind?: string }]>([
  ['another name', { metadata: { name: 'other' } }],
  ['another namespace', { metadata: { namespace: 'other' } }],
  ['another group', { apiVersion: 'apps/v1' }],
  ['another kind', { kind: 'Secret' }],
  ['no uid', { metadata: { uid: undefined } }],
  ['no version', { metadata: { resourceVersion: undefined } }],
  ['no metadata', { metadata: 'none' }],
])('getObject throws a ResponseError for a 200 with %s', async (_, changed) => {
  const key = { namespace: fixture.namespace, name: 'owner' };
  const { owner } = fixture;
  const metadata = typeof changed.metadata === 'string' ? changed.metadata : { ...owner.metadata, ...changed.metadata };
  const client: KubeClient = {
    ...fixture.client,
    request: async () => ({ status: 200, headers: {}, body: { ...owner, ...changed, metadata } }),
  };
  await expect(getObject(client, { ...configMaps, kind: 'ConfigMap' }, key)).rejects.toBeInstanceOf(ResponseError);
});
