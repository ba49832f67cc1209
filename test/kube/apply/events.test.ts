// recordEvent, against a server that stores Events as an API server does.
import { describe, expect, it } from 'vitest';
import { isRecord } from '../../../src/core/json.ts';
import { type EventRequest, recordEvent } from '../../../src/kube/apply/events.ts';
import { sendJson, startWireServer, statusOf } from '../wire-server.ts';

async function startEvents() {
  const events = new Map<string, Record<string, unknown>>();
  const server = await startWireServer(({ method, path, body }, response) => {
    const fields = isRecord(body) ? body : {};
    const metadata = isRecord(fields.metadata) ? fields.metadata : {};
    if (method === 'POST') {
      const at = `${path}/${String(metadata.name)}`;
      if (events.has(at)) return sendJson(response, 409, statusOf(409, 'AlreadyExists'));
      events.set(at, { ...fields });
      return sendJson(response, 201, fields);
    }
    const known = events.get(path);
    if (method !== 'PATCH' || known === undefined) return sendJson(response, 404, statusOf(404, 'NotFound'));
    events.set(path, { ...known, ...fields });
    return sendJson(response, 200, events.get(path));
  });
  return { server, events };
}

const object = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'shop', uid: 'u', resourceVersion: '7' },
};
const event = (change: Partial<EventRequest> = {}): EventRequest => ({
  object,
  type: 'Normal',
  reason: 'Created',
  message: 'made it',
  reportingController: 'outrigger.dev/test',
  now: () => new Date('2026-01-02T03:04:05.678Z'),
  ...change,
});

describe('recordEvent', () => {
  it('recordEvent creates an Event with object, controller and time', async () => {
    const { server, events } = await startEvents();
    expect(await recordEvent(server.client(), event())).toEqual({ recorded: true, count: 1 });
    expect([...events.values()]).toMatchObject([
      {
        involvedObject: { apiVersion: 'v1', kind: 'Pod', name: 'a', namespace: 'shop', uid: 'u' },
        ...{ type: 'Normal', reason: 'Created', message: 'made it', count: 1 },
        ...{
          source: { component: 'outrigger.dev/test' },
          firstTimestamp: '2026-01-02T03:04:05Z',
          lastTimestamp: '2026-01-02T03:04:05Z',
        },
      },
    ]);
  });

  it('recordEvent increments the count and the last time of an equal Event', async () => {
    const { server, events } = await startEvents();
    const client = server.client();
    await recordEvent(client, event());
    await recordEvent(client, event());
    expect(await recordEvent(client, event({ now: () => new Date('2026-01-02T04:00:00Z') }))).toEqual({
      recorded: true,
      count: 3,
    });
    expect([...events.values()]).toMatchObject([
      { count: 3, firstTimestamp: '2026-01-02T03:04:05Z', lastTimestamp: '2026-01-02T04:00:00Z' },
    ]);
  });

  it.each<[string, Partial<EventRequest>]>([
    ['reason', { reason: 'Scaled' }],
    ['message', { message: 'made another' }],
    ['type', { type: 'Warning' }],
    ['object of the same name', { object: { ...object, metadata: { ...object.metadata, uid: 'v' } } }],
  ])('recordEvent creates another Event for another %s', async (_, change) => {
    const { server, events } = await startEvents();
    await recordEvent(server.client(), event());
    await recordEvent(server.client(), event(change));
    expect(events.size).toBe(2);
  });

  it('recordEvent creates an Event of a cluster-scoped object in default, under a valid name', async () => {
    const { server, events } = await startEvents();
    await recordEvent(
      server.client(),
      event({ object: { kind: 'ClusterRole', metadata: { name: 'system:Node', uid: 'u' } } }),
    );
    expect([...events.keys()]).toEqual([
      expect.stringMatching(/^\/api\/v1\/namespaces\/default\/events\/[a-z0-9.-]+$/),
    ]);
  });

  it('recordEvent truncates the message to the API’s limit', async () => {
    const { server, events } = await startEvents();
    await recordEvent(server.client(), event({ message: `${'x'.repeat(1023)}😀` }));
    const [one] = [...events.values()];
    expect(String(one?.message)).toHaveLength(1024);
  });

  it('recordEvent returns the error of an Event that cannot be written', async () => {
    const server = await startWireServer((_, response) => sendJson(response, 403, statusOf(403, 'Forbidden')));
    expect(await recordEvent(server.client(), event())).toMatchObject({ recorded: false, error: { status: 403 } });
  });
});
