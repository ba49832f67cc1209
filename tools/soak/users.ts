// The users of the soak: each has objects of every kind, and creates, changes, labels, annotates and deletes them at
// random. They call the API server itself, without the fault proxies, and record the last write of each object, with
// which the checks compare the cluster.
import { setTimeout as wait } from 'node:timers/promises';
import type { PlainApi, PlainResponse } from '../chaos/plain-api.ts';
import { createSeededRandom, type SeededRandom } from '../chaos/random.ts';
import { injectChildFault } from './child-faults.ts';
import { parseObject } from './objects.ts';
import { namesOf, type Subject } from './subjects.ts';

/** The edits of users. `child-fault` changes a child or external state. */
export const verbs = ['create', 'change', 'delete', 'label', 'annotate', 'child-fault'] as const;
export type Verb = (typeof verbs)[number];

/** The last write of an object: its spec, or no spec if it was deleted. */
export type LastWrite = {
  readonly subject: Subject;
  readonly name: string;
  readonly uid: string;
  readonly spec?: Readonly<Record<string, unknown>>;
};

/** Simulated users. */
export type Users = {
  /** Creates most objects, as fast as the API server accepts them. */
  createAll(): Promise<void>;
  /** Edits until the signal aborts; resolves when the last edit was accepted. */
  edit(signal: AbortSignal): Promise<void>;
  lastWrites(): readonly LastWrite[];
  counts(): Readonly<Record<Verb, number>>;
  /** Responses that must not occur: an object that disappeared without a deletion, a change that was rejected. */
  unexpectedResponses(): readonly string[];
};

export type UsersOptions = { readonly seed: number; readonly objects: number; readonly pauseMilliseconds: number };

const userCount = 6;
/** The average share of deleted objects when one edit in fourteen is a deletion. */
const initiallyMissing = 0.07;
const retry = { attempts: 50, milliseconds: 200 };
const merge = { 'content-type': 'application/merge-patch+json' };

/** Creates users, which pause up to `pauseMilliseconds` between two edits. */
export function createUsers(
  { api, pour }: { readonly api: PlainApi; readonly pour: (uid: string, level: number) => void },
  { seed, objects, pauseMilliseconds }: UsersOptions,
): Users {
  const lastWrites = new Map<string, LastWrite>();
  const counts: Record<Verb, number> = { create: 0, change: 0, delete: 0, label: 0, annotate: 0, 'child-fault': 0 };
  const unexpectedResponses: string[] = [];
  const names = namesOf(objects);
  const users = Array.from({ length: userCount }, (_, user) => ({
    random: createSeededRandom(seed + user),
    own: names.filter((_, index) => index % userCount === user),
  }));

  async function call(method: string, path: string, body?: object): Promise<PlainResponse> {
    for (let attempt = 1; ; attempt += 1) {
      const headers = method === 'PATCH' ? merge : {};
      const response = await api.call(method, path, body, headers).catch((error: unknown) => String(error));
      const failure = typeof response === 'string' ? response : response.status;
      if (typeof response !== 'string' && response.status < 500 && response.status !== 429) return response;
      if (attempt === retry.attempts) throw new Error(`${method} ${path}: ${failure}`);
      await wait(retry.milliseconds);
    }
  }

  async function create(random: SeededRandom, subject: Subject, name: string): Promise<Verb | undefined> {
    const { apiVersion, kind, collection } = subject;
    const spec = subject.spec(random, name);
    const { status, body } = await call('POST', collection, { apiVersion, kind, metadata: { name }, spec });
    // An object of the same name is still being deleted.
    if (status === 409) return undefined;
    if (status >= 300) throw new Error(`POST ${kind} ${name}: ${status} ${JSON.stringify(body)}`);
    lastWrites.set(name, { subject, name, spec, uid: parseObject(body).metadata.uid });
    return 'create';
  }

  async function edit(random: SeededRandom, { name, subject }: (typeof names)[number]): Promise<Verb | undefined> {
    const lastWrite = lastWrites.get(name);
    if (lastWrite?.spec === undefined) return await create(random, subject, name);
    const path = `${subject.collection}/${name}`;
    const patch = async (verb: Verb, body: object): Promise<Verb> => {
      const { status } = await call('PATCH', path, body);
      if (status >= 300) unexpectedResponses.push(`${name}: ${verb} of an existing object returned ${status}`);
      return verb;
    };
    const chance = random.number();
    if (chance < 0.07) {
      const { status } = await call('DELETE', path);
      if (status >= 300) unexpectedResponses.push(`${name}: its deletion returned ${status}`);
      lastWrites.set(name, { subject, name, uid: lastWrite.uid });
      return 'delete';
    }
    if (chance < 0.15) return await patch('label', { metadata: { labels: { soak: `m${random.below(1000)}` } } });
    if (chance < 0.2) {
      const annotations = { 'outrigger.dev/reconcile-requested-at': String(random.below(1_000_000)) };
      return await patch('annotate', { metadata: { annotations } });
    }
    if (chance < 0.35) {
      const object = { name, uid: lastWrite.uid, spec: lastWrite.spec };
      return (await injectChildFault({ api, random, pour }, subject.kind, object)) ? 'child-fault' : undefined;
    }
    const spec = subject.spec(random, name);
    lastWrites.set(name, { ...lastWrite, spec });
    return await patch('change', { spec });
  }

  const count = (verb: Verb | undefined): void => {
    if (verb !== undefined) counts[verb] += 1;
  };
  return {
    async createAll() {
      const work = users.map(async ({ random, own }) => {
        for (const { name, subject } of own) {
          if (random.number() >= initiallyMissing) count(await create(random, subject, name));
        }
      });
      await Promise.all(work);
    },
    async edit(signal) {
      const work = users.map(async ({ random, own }) => {
        while (!signal.aborted) {
          count(await edit(random, random.pick(own)));
          await wait(random.below(pauseMilliseconds), undefined, { signal }).catch(() => undefined);
        }
      });
      await Promise.all(work);
    },
    lastWrites: () => [...lastWrites.values()],
    counts: () => counts,
    unexpectedResponses: () => unexpectedResponses,
  };
}
