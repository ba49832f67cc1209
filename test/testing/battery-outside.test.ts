// The battery on controllers of an outside system: what it finds only by the system's state, and what it must not
// report. Controllers without one are in battery.test.ts.
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { Secret } from '../../src/kubernetes.ts';
import { defineKind, notOk, ok, type ResultOf, secret, TerminalError, unknown } from '../../src/outrigger.ts';
import { type BatteryOptions, battery, type OutsideWorld } from '../../src/testing.ts';
import { startHttpServer } from '../support/listen.ts';

const Entry = defineKind({
  group: 'test.example.com',
  version: 'v1',
  kind: 'Entry',
  spec: z.object({ host: z.string() }),
  status: z.object({ id: z.string().optional() }),
  conditions: ['Made'],
});
const sample = {
  apiVersion: Entry.apiVersion,
  kind: 'Entry',
  metadata: { name: 'one' },
  spec: { host: 'a.example.com' },
};
const other = { ...sample, spec: { host: 'b.example.com' } };
const made = { Made: ok('Made') };

/** A directory: POST makes an entry with a new id, PUT one with the given id, DELETE removes one. */
async function directory(): Promise<OutsideWorld> {
  const entries = new Set<string>();
  let last = 0;
  const { url, close } = await startHttpServer(({ method, url: path = '/' }, response) => {
    const id = method === 'POST' ? `entry-${++last}` : path.slice(1);
    if (method === 'DELETE') entries.delete(id);
    else entries.add(id);
    response.end(id);
  });
  return {
    environment: { DIRECTORY_URL: url },
    state: () => Object.fromEntries([...entries].map((id) => [id, id])),
    close,
  };
}

const settings = z.object({ DIRECTORY_URL: z.url() });
const clients = ({ DIRECTORY_URL }: z.output<typeof settings>) => ({
  send: async (method: string, id: string, signal?: AbortSignal): Promise<string> => {
    const response = await fetch(new URL(id, DIRECTORY_URL), { method, ...(signal === undefined ? {} : { signal }) });
    return await response.text();
  },
});

const declared = { settings, clients };
type Context = { readonly clients: ReturnType<typeof clients>; readonly signal: AbortSignal };
/** A reconcile that makes the record of its host. */
const putRecord = async ({ spec }: { readonly spec: { host: string } }, { clients, signal }: Context) => ({
  status: { id: await clients.send('PUT', spec.host, signal) },
  conditions: made,
});

describe('a controller that is right', () => {
  const right = Entry.controller('entry', {
    ...declared,
    owns: [Secret],
    // The password and its end are made once, and kept where they are found.
    async reconcile({ metadata: { name, uid } }, context): Promise<ResultOf<typeof Entry>> {
      const record = `${uid.slice(0, 8)}-${uid}`;
      const kept = (await context.get(Secret, { name }))?.data;
      const password = kept?.password ?? Buffer.from(crypto.randomUUID().replaceAll('-', '')).toString('base64');
      const ends = kept?.ends ?? Buffer.from(`ends ${context.now().toISOString()}`).toString('base64');
      await context.apply(Secret, { metadata: { name }, data: { password, ends } });
      return { status: { id: await context.clients.send('PUT', record, context.signal) }, conditions: made };
    },
    async finalize({ metadata: { uid } }, context) {
      await context.clients.send('DELETE', `${uid.slice(0, 8)}-${uid}`, context.signal);
      return 'done';
    },
  });
  for (const { name, run } of battery(right, { samples: [sample], outside: directory })) it(name, run);
});

/** A directory that makes an entry in a minute after its PUT, and removes it in a minute after its DELETE. */
async function slowDirectory({ now }: { now(): Date }): Promise<OutsideWorld> {
  const entries = new Map<string, { readonly readyAt: number; goneAt: number }>();
  const sweep = () => {
    for (const [id, { goneAt }] of entries) if (now().getTime() >= goneAt) entries.delete(id);
  };
  const { url, close } = await startHttpServer(({ method, url: path = '/' }, response) => {
    sweep();
    const [id, inAMinute] = [path.slice(1), now().getTime() + 60_000];
    const entry = entries.get(id);
    if (method === 'PUT' && entry === undefined) entries.set(id, { readyAt: inAMinute, goneAt: Number.MAX_VALUE });
    if (method === 'DELETE' && entry?.goneAt === Number.MAX_VALUE) entry.goneAt = inAMinute;
    const { readyAt } = entries.get(id) ?? { readyAt: 0 };
    response.end(entries.has(id) ? (now().getTime() >= readyAt ? 'ready' : 'creating') : 'absent');
  });
  return {
    environment: { DIRECTORY_URL: url },
    state: () => [...entries.keys()],
    close,
  };
}

/** A controller of the slow directory: it polls while an entry is made or removed. */
const polling = (writesOnce: boolean) =>
  Entry.controller('entry', {
    ...declared,
    owns: [Secret],
    async reconcile({ metadata: { name }, spec, status }, { apply, clients, signal }): Promise<ResultOf<typeof Entry>> {
      if ((await clients.send('PUT', spec.host, signal)) !== 'ready')
        return { status: {}, conditions: { Made: notOk('Creating') }, requeueAfterSeconds: 20 };
      if (!writesOnce || status?.id === undefined)
        await apply(Secret, { metadata: { name }, stringData: { host: spec.host } });
      return { status: { id: spec.host }, conditions: made, requeueAfterSeconds: 600 };
    },
    async finalize({ spec }, { clients, signal }) {
      await clients.send('DELETE', spec.host, signal);
      const isGone = (await clients.send('GET', spec.host, signal)) === 'absent';
      return isGone ? 'done' : { requeueAfterSeconds: 20, reason: 'Removing' };
    },
  });

describe('a controller that polls an outside system which needs minutes', () => {
  for (const { name, run } of battery(polling(false), { samples: [sample], outside: slowDirectory })) it(name, run);

  it.each([
    'a child whose deletion was missed is created again',
    'a child whose change was missed is corrected',
  ])('that writes its Secret once, in the state that it waits for, is caught: %s', async (check) => {
    expect(await failuresOf(polling(true), check, { outside: slowDirectory })).toHaveProperty([check]);
  });
});

describe('a record that stays on purpose when its object is deleted', () => {
  const check = 'a deleted object is finalized once or twice with the same end';
  const finalizing = (call: string | undefined) =>
    Entry.controller('entry', {
      ...declared,
      reconcile: putRecord,
      async finalize({ spec }, { clients, signal }) {
        if (call !== undefined) await clients.send(call, spec.host, signal);
        return 'done';
      },
    });

  it('is accepted with keepsOutside, and its removal is caught', async () => {
    expect(await failuresOf(finalizing(undefined), check, { keepsOutside: true })).toEqual({});
    const failures = await failuresOf(finalizing('DELETE'), check, { keepsOutside: true });
    expect(failures[check]).toMatch(/^after the object was deleted, the outside system.* keepsOutside/);
  });
});

describe('an object that the outside system refuses, because another one has its name', () => {
  const check = 'an object that the outside system refuses leaves the records of another one';
  const taken = { status: {}, conditions: { Made: notOk('NameTaken') } };
  /** A directory that keeps the owner of an entry, refuses another one with a status, and keeps all requests. */
  async function namesWithOwners(refusal: number): Promise<OutsideWorld> {
    const owners: Record<string, string> = {};
    const requests: Record<string, string> = {};
    const { url, close } = await startHttpServer(({ method, url: path = '/' }, response) => {
      const [host = '', owner = ''] = path.slice(1).split('/');
      if (method === 'DELETE' && (owner === '' || owners[host] === owner)) delete owners[host];
      if (method === 'DELETE') delete requests[owner];
      if (method === 'PUT') [owners[host], requests[owner]] = [owners[host] ?? owner, host];
      response.writeHead(method === 'PUT' && owners[host] !== owner ? refusal : 200).end(owners[host] ?? '');
    });
    return {
      environment: { DIRECTORY_URL: url },
      state: () => ({ names: Object.entries(owners), requests, number: Object.keys(requests).length }),
      close,
    };
  }
  type Way = { isSilent?: boolean; takes?: boolean; throws?: Error; removes: 'own' | 'named' };
  const registrar = ({ isSilent = false, takes = false, throws, removes }: Way) =>
    Entry.controller('entry', {
      ...declared,
      async reconcile({ metadata: { name }, spec: { host } }, { clients, signal }): Promise<ResultOf<typeof Entry>> {
        const put = async () => await clients.send('PUT', `${host}/${name}`, signal);
        if ((await put()) === name) return { status: { id: host }, conditions: made };
        if (throws !== undefined) throw throws;
        if (takes) await clients.send('DELETE', host, signal).then(put);
        return isSilent || takes ? { status: {}, conditions: made } : taken;
      },
      async finalize({ metadata: { name }, spec: { host } }, { clients, signal }) {
        await clients.send('DELETE', removes === 'own' ? `${host}/${name}` : host, signal);
        return 'done';
      },
    });
  const run = async (way: Way, refusal = 409) =>
    (await failuresOf(registrar(way), check, { outside: async () => await namesWithOwners(refusal) }))[check];

  it('its deletion may not remove that record, whether the controller reports the refusal or not', async () => {
    const message =
      /^after Entry one-second, which .* was deleted, the outside system has no .*"one".* with its uid\.$/;
    expect(await run({ removes: 'named' })).toMatch(message);
    expect(await run({ removes: 'named' }, 200)).toMatch(message);
    expect(await run({ removes: 'named', isSilent: true }, 412)).toMatch(message);
    for (const throws of [new Error('taken'), new TerminalError('taken')])
      expect(await run({ removes: 'named', throws }, 200)).toMatch(message);
    expect(await run({ removes: 'own' })).toBeUndefined();
  });

  it('U11: two objects that take the record from each other are caught, and one that waits is not', async () => {
    const taking = 'two objects with the same spec do not take a record from each other';
    const outside = async () => await namesWithOwners(200);
    const failures = await failuresOf(registrar({ removes: 'own', takes: true }), taking, { outside });
    expect(failures[taking]).toMatch(
      /^after two objects with the same spec were reconciled in turn, the outside system/,
    );
    expect(await failuresOf(registrar({ removes: 'own' }), taking, { outside })).toEqual({});
  });

  it('a reconcile that takes over the record is caught, and a name that two objects may share is accepted', async () => {
    expect(await run({ removes: 'own', takes: true })).toMatch(/^after Entry one-second, which .* was reconciled, /);
    expect(await run({ removes: 'named', isSilent: true }, 200)).toBeUndefined();
  });
});

it('a secret of the settings is what the option `secrets` or the outside system has for it, and a failure names the option', async () => {
  const reader = Entry.controller('entry', {
    settings: z.object({ TOKEN: secret() }),
    clients: ({ TOKEN }) => TOKEN,
    reconcile: async (_, { clients }): Promise<ResultOf<typeof Entry>> => {
      return { status: { id: await clients.read() }, conditions: made };
    },
  });
  const run = async (secrets: Record<string, string>) =>
    await battery(reader, { samples: [sample], environment: { TOKEN: 'token' }, secrets })[0]?.run();
  await run({ token: 'the value' });
  const outside = async () => ({ environment: { TOKEN: 'token' }, secrets: { token: 'the value' } });
  await battery(reader, { samples: [sample], outside })[0]?.run();
  await expect(run({})).rejects.toThrow('(TOKEN) names "token", which the option `secrets` of the test does not have');
});

/** Runs the check of a name, and returns its message by the name if it fails. */
async function failuresOf(
  controller: Parameters<typeof battery>[0],
  only: string,
  options: Partial<BatteryOptions> = {},
): Promise<Readonly<Record<string, string>>> {
  const failures: Record<string, string> = {};
  for (const { name, run } of battery(controller, { samples: [sample], outside: directory, ...options })) {
    if (name !== only) continue;
    await run().catch((error: Error) => {
      failures[name] = error.message;
    });
  }
  return failures;
}

describe('U11: a controller that reports an outage as a condition, and asks again in a minute', () => {
  const check = 'an outside system that is down between any two calls ends the same';
  const patient = (asksAgain: boolean) =>
    Entry.controller('entry', {
      ...declared,
      async reconcile({ spec, conditions }, { clients, signal, now }): Promise<ResultOf<typeof Entry>> {
        const outage = conditions?.find(({ type, status }) => type === 'Made' && status === 'Unknown');
        const requeueAt = new Date(Date.parse(outage?.lastTransitionTime ?? now().toISOString()) + 60_000);
        if (outage !== undefined && (!asksAgain || now() < requeueAt))
          return { status: {}, conditions: { Made: unknown(outage.reason) }, requeueAt };
        const id = await clients.send('PUT', spec.host, signal).catch(() => undefined);
        if (id === undefined) return { status: {}, conditions: { Made: unknown('Unreachable') }, requeueAt };
        return { status: { id }, conditions: made };
      },
    });

  it('is right if it asks when that is due, and if not the message says when that was', async () => {
    expect(await failuresOf(patient(true), check)).toEqual({});
    expect((await failuresOf(patient(false), check))[check]).toMatch(
      /What to change: call it again when the requeue of that reconcile is due, which was (59|60) s later\.$/,
    );
  });
});

it('U11: a sample has the port that the outside system got', async () => {
  const fetching = Entry.controller('entry', {
    async reconcile({ spec }, { signal }): Promise<ResultOf<typeof Entry>> {
      const response = await fetch(spec.host, { method: 'PUT', signal });
      return { status: { id: await response.text() }, conditions: made };
    },
  });
  const outside = async () => {
    const { environment, ...world } = await directory();
    const place = (object: object) => ({ ...object, spec: { host: `${environment?.DIRECTORY_URL}/a` } });
    return { ...world, place };
  };
  const check = 'an outside system that is down between any two calls ends the same';
  expect(await failuresOf(fetching, check, { outside })).toEqual({});
});

it('an object that deletes itself must end like a deleted one', async () => {
  const check = 'an object that deletes itself ends like a deleted one';
  const guest = Entry.controller('entry', {
    ...declared,
    deletesSelf: true,
    async reconcile(entry, context): Promise<ResultOf<typeof Entry>> {
      const ends = new Date(Date.parse(entry.metadata.creationTimestamp ?? '') + 3_600_000);
      if (context.now() >= ends) await context.deleteSelf();
      return { ...(await putRecord(entry, context)), requeueAt: ends };
    },
  });
  const host = async ({ spec }: { readonly spec: { host: string } }, { clients, signal }: Context) => {
    await clients.send('DELETE', spec.host, signal);
    return 'done' as const;
  };
  const tidy = Entry.controller('entry', {
    ...declared,
    deletesSelf: true,
    reconcile: guest.reconcile,
    finalize: host,
  });
  expect(await failuresOf(tidy, check)).toEqual({});
  expect((await failuresOf(guest, check))[check]).toMatch(/^after the object deleted itself, the outside system/);
});

describe('a controller that is wrong', () => {
  it('a record that every reconcile makes is caught, although the object converges', async () => {
    const busy = Entry.controller('entry', {
      ...declared,
      async reconcile(_, context): Promise<ResultOf<typeof Entry>> {
        await context.clients.send('POST', '', context.signal);
        return { status: {}, conditions: made };
      },
    });
    const check = 'a converged object is reconciled without a write';
    expect((await failuresOf(busy, check))[check]).toMatch(
      /^after another reconcile of a converged object, the outside system.* What to change: let every call be repeated/,
    );
  });

  it('a record without a name of its own is made twice after a crash of the function', async () => {
    const forgetful = Entry.controller('entry', {
      ...declared,
      async reconcile({ status }, context): Promise<ResultOf<typeof Entry>> {
        const id = status?.id ?? (await context.clients.send('POST', '', context.signal));
        return { status: { id }, conditions: made };
      },
      async finalize({ status }, context) {
        if (status?.id !== undefined) await context.clients.send('DELETE', status.id, context.signal);
        return 'done';
      },
    });
    const check = 'after a crash at any write the next reconcile reaches the same end';
    expect((await failuresOf(forgetful, check))[check]).toMatch(/^after a crash right after POST http.*"entry-2"/);
  });

  it.each([
    ['does nothing', async () => 'done' as const],
    [
      'ignores a failure',
      async ({ spec }: { spec: { host: string } }, context: Context) => {
        await context.clients.send('DELETE', spec.host).catch(() => undefined);
        return 'done' as const;
      },
    ],
  ])('a finalize that %s is caught by the record that stays', async (_, finalize) => {
    const careless = Entry.controller('entry', { ...declared, reconcile: putRecord, finalize });
    const check = 'a finalize whose outside system is down is repeated until nothing is left';
    expect((await failuresOf(careless, check))[check]).toMatch(
      /the outside system.*"a\.example\.com".* return 'done' from finalize only when nothing/,
    );
  });

  it('a record that only the status names is caught where a crash loses it, and the spec names another one', async () => {
    const tracking = Entry.controller('entry', {
      ...declared,
      async reconcile({ spec, status }, context): Promise<ResultOf<typeof Entry>> {
        if (status?.id !== undefined && status.id !== spec.host) await context.clients.send('DELETE', status.id);
        return { status: { id: await context.clients.send('PUT', spec.host, context.signal) }, conditions: made };
      },
      async finalize({ spec, status }, context) {
        for (const id of [status?.id ?? spec.host, spec.host]) await context.clients.send('DELETE', id);
        return 'done';
      },
    });
    const samples = [sample, { ...other, metadata: { name: 'two' } }];
    const change = battery(tracking, { samples, outside: directory }).find(({ name }) => name.includes('sample 1 to'));
    await expect(change?.run()).rejects.toThrow(
      /^after Entry one crashed right after PUT http.*a\.example\.com and was changed from sample 1 to sample 2/,
    );
  });

  it('a record that stays when the spec names another one is caught by a second sample', async () => {
    const leaving = Entry.controller('entry', {
      ...declared,
      reconcile: putRecord,
    });
    const check = battery(leaving, { samples: [sample, other], outside: directory }).at(-1);
    await expect(check?.run()).rejects.toThrow(
      /^after Entry one was changed from sample 1 to sample 2, the outside system is \{.*a\.example\.com.*\} instead of \{/,
    );
  });

  it('samples whose difference only an outside system without state() can show are skipped', async () => {
    const quiet = Entry.controller('entry', {
      ...declared,
      async reconcile({ spec }, context): Promise<ResultOf<typeof Entry>> {
        await context.clients.send('PUT', spec.host, context.signal);
        return { status: {}, conditions: made };
      },
    });
    const outside = async () => {
      const { state: _, ...world } = await directory();
      return world;
    };
    const notes: string[] = [];
    await battery(quiet, { samples: [sample, other], outside })
      .at(-1)
      ?.run({ skip: (note) => void notes.push(note) });
    expect(notes).toEqual([expect.stringMatching(/^not checked: .* give the state\(\) of the outside system$/)]);
  });

  it('a call without the signal of the context is caught, with the call', async () => {
    const endless = Entry.controller('entry', {
      ...declared,
      async reconcile({ spec }, context): Promise<ResultOf<typeof Entry>> {
        return { status: { id: await context.clients.send('PUT', spec.host) }, conditions: made };
      },
      async finalize({ spec }, context) {
        await context.clients.send('DELETE', spec.host, context.signal);
        return 'done';
      },
    });
    const check = 'a call to an outside system that does not respond ends with the function';
    expect((await failuresOf(endless, check))[check]).toMatch(
      /^PUT http:\/\/127\.0\.0\.1\/a\.example\.com does not end when the signal of the context aborts/,
    );
  });
});
