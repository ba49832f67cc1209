// Secrets by reference: for how long they are remembered, and what is said of those that cannot be had. Secrets Manager is a server
// on this machine that answers as AWS does.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ConnectionProblem } from '../../../src/clusters/connection-problem.ts';
import { createSecretReader } from '../../../src/clusters/secret-reader.ts';
import { createGetSecret } from '../../../src/clusters/auth/secrets-manager.ts';
import { failure } from '../../kube/wire-server.ts';

type Answer = readonly [status: number, body: object];
const notThere: Answer = [400, { __type: 'ResourceNotFoundException', Message: 'cannot find it' }];
const notAllowed: Answer = [400, { __type: 'AccessDeniedException', Message: 'not authorized' }];
const away: Answer = [500, { __type: 'InternalServiceError', Message: 'later' }];
const holding = (SecretString: string): Answer => [200, { Name: 'a', SecretString }];

const reference = { secret: 'outrigger/a', maxAgeSeconds: 300 };
const where = 'cluster "a": access';

async function createWorld(answer: Answer) {
  const asked: string[] = [];
  const world = { answer, asked, now: new Date('2026-11-21T20:00:00Z') };
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      world.asked.push(`${request.headers['x-amz-target']} ${Buffer.concat(chunks).toString()}`);
      const [status, body] = world.answer;
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = new SecretsManagerClient({
    endpoint: `http://127.0.0.1:${portOf(server.address())}`,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'x', secretAccessKey: 'y' },
    maxAttempts: 1,
  });
  onTestFinished(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  const later = (seconds: number) => {
    world.now = new Date(world.now.getTime() + seconds * 1000);
  };
  const reader = createSecretReader({ now: () => world.now, getSecret: createGetSecret(client) });
  return { world, later, reader };
}

describe('a secret', () => {
  it('is read once for all who ask, and again when it is older than its reference allows', async () => {
    const { world, later, reader } = await createWorld(holding('one'));
    const both = await Promise.all([reader.read(reference, where), reader.read(reference, where)]);
    expect(both).toEqual(['one', 'one']);
    world.answer = holding('two');
    later(299);
    expect(await reader.read(reference, where)).toBe('one');
    expect(world.asked).toEqual(['secretsmanager.GetSecretValue {"SecretId":"outrigger/a"}']);
    later(1);
    expect(await reader.read(reference, where)).toBe('two');
  });

  it('is as old as the strictest of those who refer to it allows', async () => {
    const { world, later, reader } = await createWorld(holding('one'));
    await reader.read(reference, where);
    world.answer = holding('two');
    later(10);
    expect(await reader.read(reference, where)).toBe('one');
    expect(await reader.read({ ...reference, maxAgeSeconds: 10 }, where)).toBe('two');
    expect(await reader.read(reference, where)).toBe('two');
  });

  it('is read again at once when it was refused', async () => {
    const { world, reader } = await createWorld(holding('one'));
    await reader.read(reference, where);
    world.answer = holding('two');
    reader.forget(reference);
    expect(await reader.read(reference, where)).toBe('two');
  });

  it('stays in use while Secrets Manager is away, which is asked again every 5 s', async () => {
    const { world, later, reader } = await createWorld(holding('one'));
    await reader.read(reference, where);
    world.answer = away;
    later(300);
    expect(await reader.read(reference, where)).toBe('one');
    later(4);
    expect(await reader.read(reference, where)).toBe('one');
    expect(world.asked).toHaveLength(2);
    world.answer = holding('two');
    later(1);
    expect(await reader.read(reference, where)).toBe('two');
  });

  it.each([
    ['is gone', notThere],
    ['may not be read any more', notAllowed],
  ])('that %s is not used again', async (_, answer) => {
    const { world, later, reader } = await createWorld(holding('one'));
    await reader.read(reference, where);
    world.answer = answer;
    later(300);
    await expect(reader.read(reference, where)).rejects.toBeInstanceOf(ConnectionProblem);
    world.answer = away;
    await expect(reader.read(reference, where)).rejects.toThrow('could not be read');
  });

  it.each<[string, Answer, string]>([
    ['is not there', notThere, 'is not there; create it, or correct its name'],
    ['may not be read', notAllowed, 'may not be read; allow secretsmanager:GetSecretValue'],
    ['is binary', [200, { Name: 'a', SecretBinary: 'AA==' }], 'holds no text; store it as a string'],
    ['is blank', holding(' \n'), 'holds no text; store it as a string'],
  ])('that %s is a problem that names who refers to it, and what to do', async (_, answer, said) => {
    const { reader } = await createWorld(answer);
    const error = await failure(reader.read(reference, where));
    expect(error).toBeInstanceOf(ConnectionProblem);
    expect(String(error)).toContain(`ConnectionProblem: cluster "a": access: secret "outrigger/a" ${said}`);
  });

  it('that was never read is a line that names who refers to it while Secrets Manager is away, and is read once it is back', async () => {
    const { world, reader } = await createWorld(away);
    await expect(reader.read(reference, where)).rejects.toThrow(
      /^cluster "a": access: secret "outrigger\/a" could not be read \(.+\); the next try asks again$/,
    );
    world.answer = holding('one');
    expect(await reader.read(reference, where)).toBe('one');
  });

  it.each([
    ['is no JSON', 'one'],
    ['has no such key', '{"other":"one"}'],
    ['has something else under it', '{"token":{"a":"one"}}'],
  ])('of which a key is meant, and that %s, is a problem that quotes none of it', async (_, text) => {
    const { reader } = await createWorld(holding(text));
    const error = await failure(reader.read({ ...reference, key: 'token' }, where));
    expect(String(error)).toBe(
      'ConnectionProblem: cluster "a": access: secret "outrigger/a" is no JSON object with a text "token"; mend one of the two',
    );
  });
});

function portOf(address: string | AddressInfo | null): number {
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return address.port;
}
