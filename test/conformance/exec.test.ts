// Conformance: the errors of the API server for commands in pods. Running commands needs a kubelet (tools/kubelet).
import { expect, it } from 'vitest';
import { execOverWire } from '../support/exec-wire.ts';
import { useSuite } from './suite.ts';

const { wire, namespace, server } = await useSuite();

const pods = async (containers: readonly string[] = ['main']): Promise<string> => {
  const path = `/api/v1/namespaces/${await namespace()}/pods`;
  const spec = { containers: containers.map((name) => ({ name, image: 'example.org/main:1' })) };
  expect((await wire.post(path, { metadata: { name: 'one' }, spec })).status).toBe(201);
  return path;
};
const errorStatus = (code: number, reason: string, message: string) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason,
  code,
});

it('a command in a pod that does not exist is a 404, by handshake, GET and POST', async () => {
  const path = await pods();
  const expected = {
    ...errorStatus(404, 'NotFound', 'pods "none" not found'),
    details: { name: 'none', kind: 'pods' },
  };
  const { rejected } = await execOverWire(server, `${path}/none`, ['true']);
  expect(rejected?.status).toBe(404);
  expect(JSON.parse(rejected?.text ?? '')).toEqual(expected);
  expect((await wire.get(`${path}/none/exec`, { command: 'true' })).body).toEqual(expected);
  expect((await wire.post(`${path}/none/exec`, undefined, { command: 'true' })).body).toEqual(expected);
});

it('a command in an unknown container is a 400', async () => {
  const { rejected } = await execOverWire(server, `${await pods()}/one`, ['true'], { container: 'other' });
  expect(rejected?.status).toBe(400);
  const expected = errorStatus(400, 'BadRequest', 'container other is not valid for pod one');
  expect(JSON.parse(rejected?.text ?? '')).toEqual(expected);
});

it('a command without a container in a pod with several containers is a 400', async () => {
  const { rejected } = await execOverWire(server, `${await pods(['first', 'second'])}/one`, ['true']);
  const message = 'a container name must be specified for pod one, choose one of: [first second]';
  expect(JSON.parse(rejected?.text ?? '')).toEqual(errorStatus(400, 'BadRequest', message));
});

it('a command in a pod without a node is a 400, even without a command', async () => {
  const path = `${await pods()}/one`;
  const expected = errorStatus(400, 'BadRequest', 'pod one does not have a host assigned');
  for (const command of [['true'], []]) {
    const { rejected } = await execOverWire(server, path, command);
    expect(JSON.parse(rejected?.text ?? '')).toEqual(expected);
  }
  expect((await wire.get(`${path}/exec`, { container: 'main' })).body).toEqual(expected);
});

it.each(['PUT', 'PATCH', 'DELETE'])('a %s of pods/exec is not allowed', async (method) => {
  const rejected = await wire.request(method, `${await pods()}/one/exec`, {});
  expect(rejected.body).toMatchObject({ code: 405, reason: 'MethodNotAllowed' });
});

it('discovery lists pods/exec with the verbs create and get', async () => {
  const { resources } = JSON.parse((await wire.get('/api/v1')).text);
  expect(resources).toContainEqual(
    expect.objectContaining({ name: 'pods/exec', kind: 'PodExecOptions', namespaced: true, verbs: ['create', 'get'] }),
  );
});
