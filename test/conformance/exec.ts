// Conformance: commands in pods, as far as the API server alone refuses them. What a command does is a kubelet's (test/kubelet).
import { expect, it } from 'vitest';
import { execOverWire } from '../support/exec-wire.ts';
import type { Suite } from './suite.ts';
import type { ConformanceServer } from './wire.ts';

/** Declares the cases. The handshakes need the server itself. */
export function execCases({ wire, namespace }: Suite, server: ConformanceServer): void {
  const pods = async (containers: readonly string[] = ['main']): Promise<string> => {
    const path = `/api/v1/namespaces/${await namespace()}/pods`;
    const spec = { containers: containers.map((name) => ({ name, image: 'example.org/main:1' })) };
    expect((await wire.post(path, { metadata: { name: 'one' }, spec })).status).toBe(201);
    return path;
  };
  const refusal = (code: number, reason: string, message: string) => ({
    ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' },
    ...{ message, reason, code },
  });

  it('a command in a pod that is not there is a 404, by handshake, GET and POST alike', async () => {
    const path = await pods();
    const expected = {
      ...refusal(404, 'NotFound', 'pods "none" not found'),
      details: { name: 'none', kind: 'pods' },
    };
    const { refused } = await execOverWire(server, `${path}/none`, ['true']);
    expect(refused?.status).toBe(404);
    expect(JSON.parse(refused?.text ?? '')).toEqual(expected);
    expect((await wire.get(`${path}/none/exec`, { command: 'true' })).body).toEqual(expected);
    expect((await wire.post(`${path}/none/exec`, undefined, { command: 'true' })).body).toEqual(expected);
  });

  it('a container that the pod does not have is a 400', async () => {
    const { refused } = await execOverWire(server, `${await pods()}/one`, ['true'], { container: 'other' });
    expect(refused?.status).toBe(400);
    const expected = refusal(400, 'BadRequest', 'container other is not valid for pod one');
    expect(JSON.parse(refused?.text ?? '')).toEqual(expected);
  });

  it('one of several containers must be named', async () => {
    const { refused } = await execOverWire(server, `${await pods(['first', 'second'])}/one`, ['true']);
    const message = 'a container name must be specified for pod one, choose one of: [first second]';
    expect(JSON.parse(refused?.text ?? '')).toEqual(refusal(400, 'BadRequest', message));
  });

  it('a pod that runs nowhere yet is a 400, whatever the command', async () => {
    const path = `${await pods()}/one`;
    const expected = refusal(400, 'BadRequest', 'pod one does not have a host assigned');
    for (const command of [['true'], []]) {
      const { refused } = await execOverWire(server, path, command);
      expect(JSON.parse(refused?.text ?? '')).toEqual(expected);
    }
    expect((await wire.get(`${path}/exec`, { container: 'main' })).body).toEqual(expected);
  });

  it.each(['PUT', 'PATCH', 'DELETE'])('%s is not allowed on it', async (method) => {
    const refused = await wire.request(method, `${await pods()}/one/exec`, {});
    expect(refused.body).toMatchObject({ code: 405, reason: 'MethodNotAllowed' });
  });

  it('is found by discovery as what is got and created', async () => {
    const { resources } = JSON.parse((await wire.get('/api/v1')).text);
    expect(resources).toContainEqual(
      expect.objectContaining({
        name: 'pods/exec',
        kind: 'PodExecOptions',
        namespaced: true,
        verbs: ['create', 'get'],
      }),
    );
  });
}
