// The users of the soak: each has objects of its own, of every kind, and creates, changes, labels, pokes and deletes them at random.
// They go to the API server itself, past every fault, and remember their last word on each object: the judge holds the cluster to it.
import { setTimeout as wait } from 'node:timers/promises';
import { createDice, type Dice } from '../../tools/chaos/random.ts';
import type { PlainAnswer, PlainApi } from '../../tools/chaos/plain-api.ts';
import { meddle } from './meddling.ts';
import { parseSeen } from '../../tools/soak/objects.ts';
import { namesOf, type Subject } from '../../tools/soak/subjects.ts';

/** What users do. */
export const verbs = ['create', 'change', 'delete', 'label', 'poke', 'meddle'] as const;
export type Verb = (typeof verbs)[number];

/** The last word on an object: what it is to be, or, without a spec, that it is not to be. */
export type Word = {
  readonly subject: Subject;
  readonly name: string;
  readonly uid: string;
  readonly spec?: Readonly<Record<string, unknown>>;
};

/** Users at work. */
export type Users = {
  /** Creates most objects, as fast as the API server takes them. */
  settle(): Promise<void>;
  /** Edits until the signal aborts; resolves when the last edit was taken. */
  edit(signal: AbortSignal): Promise<void>;
  words(): readonly Word[];
  counts(): Readonly<Record<Verb, number>>;
  /** What no user may ever see: an object that went without having been deleted, a change that was refused. */
  complaints(): readonly string[];
};

export type UsersOptions = { readonly seed: number; readonly objects: number; readonly pauseMilliseconds: number };

const howMany = 6;
/** As many as are away on average when one edit in fourteen is a deletion. */
const awayAtFirst = 0.07;
const again = { attempts: 50, milliseconds: 200 };
const merge = { 'content-type': 'application/merge-patch+json' };

/** Creates users; they pause up to `pauseMilliseconds` between two edits. */
export function createUsers(
  { api, pour }: { readonly api: PlainApi; readonly pour: (uid: string, level: number) => void },
  { seed, objects, pauseMilliseconds }: UsersOptions,
): Users {
  const words = new Map<string, Word>();
  const counts: Record<Verb, number> = { create: 0, change: 0, delete: 0, label: 0, poke: 0, meddle: 0 };
  const complaints: string[] = [];
  const names = namesOf(objects);
  const users = Array.from({ length: howMany }, (_, user) => ({
    dice: createDice(seed + user),
    own: names.filter((_, index) => index % howMany === user),
  }));

  async function call(method: string, path: string, body?: object): Promise<PlainAnswer> {
    for (let attempt = 1; ; attempt += 1) {
      const headers = method === 'PATCH' ? merge : {};
      const answer = await api.call(method, path, body, headers).catch((error: unknown) => String(error));
      const how = typeof answer === 'string' ? answer : answer.status;
      if (typeof answer !== 'string' && answer.status < 500 && answer.status !== 429) return answer;
      if (attempt === again.attempts) throw new Error(`${method} ${path}: ${how}`);
      await wait(again.milliseconds);
    }
  }

  async function create(dice: Dice, subject: Subject, name: string): Promise<Verb | undefined> {
    const { apiVersion, kind, collection } = subject;
    const spec = subject.spec(dice, name);
    const { status, body } = await call('POST', collection, { apiVersion, kind, metadata: { name }, spec });
    // Its namesake is still being deleted.
    if (status === 409) return undefined;
    if (status >= 300) throw new Error(`POST ${kind} ${name}: ${status} ${JSON.stringify(body)}`);
    words.set(name, { subject, name, spec, uid: parseSeen(body).metadata.uid });
    return 'create';
  }

  async function edit(dice: Dice, { name, subject }: (typeof names)[number]): Promise<Verb | undefined> {
    const word = words.get(name);
    if (word?.spec === undefined) return await create(dice, subject, name);
    const path = `${subject.collection}/${name}`;
    const patch = async (verb: Verb, body: object): Promise<Verb> => {
      const { status } = await call('PATCH', path, body);
      if (status >= 300) complaints.push(`${name}: a ${verb} of what nobody deleted was answered with ${status}`);
      return verb;
    };
    const chance = dice.number();
    if (chance < 0.07) {
      const { status } = await call('DELETE', path);
      if (status >= 300) complaints.push(`${name}: its deletion was answered with ${status}`);
      words.set(name, { subject, name, uid: word.uid });
      return 'delete';
    }
    if (chance < 0.15) return await patch('label', { metadata: { labels: { mood: `m${dice.below(1000)}` } } });
    if (chance < 0.2) {
      const annotations = { 'outrigger.dev/reconcile-requested-at': String(dice.below(1_000_000)) };
      return await patch('poke', { metadata: { annotations } });
    }
    if (chance < 0.35) {
      const left = { name, uid: word.uid, spec: word.spec };
      return (await meddle({ api, dice, pour }, subject.kind, left)) ? 'meddle' : undefined;
    }
    const spec = subject.spec(dice, name);
    words.set(name, { ...word, spec });
    return await patch('change', { spec });
  }

  const count = (verb: Verb | undefined): void => {
    if (verb !== undefined) counts[verb] += 1;
  };
  return {
    async settle() {
      const each = users.map(async ({ dice, own }) => {
        for (const { name, subject } of own) {
          if (dice.number() >= awayAtFirst) count(await create(dice, subject, name));
        }
      });
      await Promise.all(each);
    },
    async edit(signal) {
      const each = users.map(async ({ dice, own }) => {
        while (!signal.aborted) {
          count(await edit(dice, dice.pick(own)));
          await wait(dice.below(pauseMilliseconds), undefined, { signal }).catch(() => undefined);
        }
      });
      await Promise.all(each);
    },
    words: () => [...words.values()],
    counts: () => counts,
    complaints: () => complaints,
  };
}
