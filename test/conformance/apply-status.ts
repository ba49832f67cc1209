// Conformance: server-side apply on /status, which is how a controller writes what it has seen.
import { expect, it } from 'vitest';
import { API_VERSION, gadget, gadgets } from './gadget.ts';
import type { Suite } from './suite.ts';

/** Returns a status to be applied; metadata may carry a version or a uid. */
function statusOf(status: object, metadata: object = {}): object {
  return { apiVersion: API_VERSION, kind: 'Gadget', metadata: { name: 'one', ...metadata }, status };
}

/** Declares the cases. */
export function applyStatusCases({ wire, namespace }: Suite): void {
  const one = async (): Promise<{ main: string; status: string; version: string }> => {
    const ns = await namespace();
    const { body } = await wire.post(gadgets(ns), gadget('one'));
    const version = body.metadata?.resourceVersion ?? '';
    return { main: gadgets(ns, 'one'), status: gadgets(ns, 'one', 'status'), version };
  };

  it('an applied status leaves spec, generation and labels alone, and its entry names the subresource', async () => {
    const { status } = await one();
    const content = {
      ...statusOf({ phase: 'Up' }, { labels: { a: 'b' }, finalizers: ['example.org/x'] }),
      spec: { size: 9 },
    };
    const { body } = await wire.apply(status, 'watcher', content);
    expect(body).toMatchObject({ metadata: { generation: 1 }, spec: { size: 1 }, status: { phase: 'Up' } });
    expect(body.metadata?.labels).toBeUndefined();
    expect(body.metadata?.finalizers).toBeUndefined();
    expect(body.metadata?.managedFields?.find((entry) => entry.manager === 'watcher')).toMatchObject({
      operation: 'Apply',
      subresource: 'status',
      fieldsV1: { 'f:status': { 'f:phase': {} } },
    });
  });

  it('the same status again keeps the version', async () => {
    const { status } = await one();
    const content = statusOf({ phase: 'Up', replicas: 0, conditions: [{ type: 'A', status: 'True', message: '' }] });
    const first = await wire.apply(status, 'watcher', content, { force: true });
    const second = await wire.apply(status, 'watcher', content, { force: true });
    expect(second.body).toEqual(first.body);
  });

  it('conditions of two managers live side by side, and each removes its own only', async () => {
    const { status } = await one();
    await wire.apply(status, 'first', statusOf({ conditions: [{ type: 'A', status: 'True' }] }));
    const both = await wire.apply(
      status,
      'second',
      statusOf({ conditions: [{ type: 'B', status: 'False', reason: 'R' }] }),
    );
    expect(both.body.status).toEqual({
      conditions: [
        { type: 'A', status: 'True' },
        { type: 'B', status: 'False', reason: 'R' },
      ],
    });
    const conflict = await wire.apply(status, 'second', statusOf({ conditions: [{ type: 'A', status: 'False' }] }));
    expect(conflict.body.details?.causes).toEqual([
      {
        reason: 'FieldManagerConflict',
        message: 'conflict with "first" with subresource "status"',
        field: '.status.conditions[type="A"].status',
      },
    ]);
    const dropped = await wire.apply(status, 'second', statusOf({}));
    expect(dropped.body.status).toEqual({ conditions: [{ type: 'A', status: 'True' }] });
  });

  it('what a manager no longer says goes, the rest of the status stays', async () => {
    const { status } = await one();
    await wire.apply(status, 'watcher', statusOf({ phase: 'Up', replicas: 3 }));
    await wire.apply(status, 'other', statusOf({ observedGeneration: 1 }));
    const { body } = await wire.apply(status, 'watcher', statusOf({ phase: 'Up' }));
    expect(body.status).toEqual({ phase: 'Up', observedGeneration: 1 });
  });

  it('one manager owns by subresource: a status apply does not drop what it applied to the object', async () => {
    const { main, status } = await one();
    await wire.apply(main, 'both', gadget('one', { size: 1, color: 'red' }), { force: true });
    const { body } = await wire.apply(status, 'both', statusOf({ phase: 'Up' }));
    expect(body.spec).toMatchObject({ size: 1, color: 'red' });
    expect((await wire.apply(main, 'both', gadget('one', { size: 1 }))).body.status).toEqual({ phase: 'Up' });
  });

  it('an apply on the object cannot write the status', async () => {
    const { main } = await one();
    const { body } = await wire.apply(main, 'alpha', { ...gadget('one'), status: { phase: 'Up' } });
    expect(body.status).toBeUndefined();
    expect(JSON.stringify(body.metadata?.managedFields)).not.toContain('f:status');
  });

  it('a stale version is a Conflict, force or not', async () => {
    const { main, status, version } = await one();
    await wire.mergePatch(main, { spec: { size: 2 } });
    for (const force of [false, true]) {
      const stale = await wire.apply(status, 'watcher', statusOf({ phase: 'Up' }, { resourceVersion: version }), {
        force,
      });
      expect(stale.body).toMatchObject({ code: 409, reason: 'Conflict' });
    }
    expect((await wire.get(main)).body.status).toBeUndefined();
  });

  it('a version that holds lets the apply through and answers the next one', async () => {
    const { status, version } = await one();
    const first = await wire.apply(status, 'watcher', statusOf({ phase: 'Up' }, { resourceVersion: version }));
    const next = first.body.metadata?.resourceVersion ?? '';
    expect(Number(next)).toBeGreaterThan(Number(version));
    const second = await wire.apply(status, 'watcher', statusOf({ phase: 'Down' }, { resourceVersion: next }));
    expect(second.status).toBe(200);
  });

  it('the status of an object that is not there is not created', async () => {
    const { status } = await one();
    const lost = await wire.apply(status.replace('/one/', '/nobody/'), 'watcher', {
      ...statusOf({ phase: 'Up' }),
      metadata: { name: 'nobody' },
    });
    expect(lost.body).toMatchObject({ code: 404, reason: 'NotFound' });
  });

  it('a uid does not guard /status: only the version does', async () => {
    const { status } = await one();
    const foreign = statusOf({ phase: 'Up' }, { uid: '00000000-0000-4000-8000-000000000000' });
    expect((await wire.apply(status, 'watcher', foreign)).status).toBe(200);
  });

  it('an applied status is validated', async () => {
    const { status } = await one();
    const refused = await wire.apply(status, 'watcher', statusOf({ nope: 1 }));
    expect(refused.body.message).toContain('.status.nope: field not declared in schema');
    const missing = await wire.apply(status, 'watcher', statusOf({ conditions: [{ type: 'A' }] }));
    expect(missing.status).toBe(422);
    expect(missing.body.details?.causes?.[0]).toMatchObject({ field: 'status.conditions[0].status' });
  });
}
