// Sends the same random requests to two API servers and compares what they answer: the status, the reason, and the field
// and reason of each cause. Every write is a dry run on objects that both servers have, so that no request depends on
// another one, and a difference is repeated by its seed and number alone.
import { isObject, type JsonObject } from '@outrigger/apiserver/json';
import { publishedSchemas } from '@outrigger/apiserver/schema/builtins';
import type { Schema } from '@outrigger/apiserver/schema/schema';
import type { Wire, WireResponse } from '../../conformance/wire.ts';
import { type GoodObject, goodObjects } from './good-objects.ts';
import { knownDifferences } from './known-differences.ts';
import { changed, pick, type Random, randomOf } from './random-changes.ts';

/** The servers, by what they are. */
export type Servers = { readonly real: Wire; readonly memory: Wire };

/** A request that the servers answer differently. */
export type Difference = {
  readonly request: number;
  readonly kind: string;
  readonly verb: string;
  readonly real: readonly string[];
  readonly memory: readonly string[];
  readonly sent: string;
};

const verbs = ['create', 'apply', 'merge', 'replace'] as const;
const atOnce = 8;

/** Sends requests from the first number on. Returns those with different answers. */
export async function compareServers(
  servers: Servers,
  { seed, first = 0, requests }: { readonly seed: number; readonly first?: number; readonly requests: number },
): Promise<readonly Difference[]> {
  const objects = await createObjects(servers);
  const differences: Difference[] = [];
  let next = first;
  const worker = async (): Promise<void> => {
    while (next < first + requests) {
      const request = next++;
      const found = await compareOne(servers, objects, request, randomOf(seed * 1_000_003 + request));
      if (found !== undefined) differences.push(found);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return differences.toSorted((a, b) => a.request - b.request);
}

type Stored = GoodObject & { readonly collection: string; readonly name: string; readonly schema: Schema };

/** Creates the good objects in both servers, each in a namespace of its own. */
async function createObjects(servers: Servers): Promise<readonly Stored[]> {
  const stored: Stored[] = [];
  for (const [index, good] of goodObjects.entries()) {
    const namespace = good.kind === 'Event' ? 'compare-event' : `compare-${index}`;
    const root = good.apiVersion.includes('/') ? `/apis/${good.apiVersion}` : `/api/${good.apiVersion}`;
    const collection = `${root}${good.namespaced ? `/namespaces/${namespace}` : ''}/${good.plural}`;
    const name = `one-${index}`;
    for (const wire of [servers.real, servers.memory]) {
      await wire.post('/api/v1/namespaces', { metadata: { name: namespace } });
      const made = await wire.post(collection, bodyOf(good, name));
      if (made.status !== 201 && made.status !== 409) throw new Error(`${good.kind} ${index}: ${made.text}`);
    }
    stored.push({ ...good, collection, name, schema: schemaOf(good) });
  }
  return stored;
}

const schemaPrefixes: Readonly<Record<string, string>> = { v1: 'core.v1' };

function schemaOf({ apiVersion, kind }: GoodObject): Schema {
  const [group = '', version = ''] = apiVersion.split('/');
  const prefix = schemaPrefixes[apiVersion] ?? `${group.split('.')[0]}.${version}`;
  return publishedSchemas.resolved(`io.k8s.api.${prefix}.${kind}`);
}

function bodyOf({ apiVersion, kind, content }: GoodObject, name: string): JsonObject {
  return { apiVersion, kind, metadata: { name }, ...content };
}

async function compareOne(
  servers: Servers,
  objects: readonly Stored[],
  request: number,
  random: Random,
): Promise<Difference | undefined> {
  const target = pick(random, objects);
  const verb = pick(random, verbs);
  let sent = bodyOf(target, verb === 'create' ? 'two' : target.name);
  const changes = pick(random, [1, 1, 1, 2, 3]);
  for (let count = 0; count < changes; count++) sent = changed(random, sent, target.schema);
  const [real, memory] = await Promise.all(
    [servers.real, servers.memory].map((wire) => send(wire, target, verb, sent)),
  );
  const answers = { real: answerOf(real), memory: answerOf(memory) };
  if (sameAnswers(target.kind, answers.real, answers.memory)) return undefined;
  return { request, kind: target.kind, verb, ...answers, sent: JSON.stringify(sent) };
}

/** Sends a write. A merge patch has the values of the changed object, and null for each field that is gone. */
async function send(wire: Wire, target: Stored, verb: (typeof verbs)[number], sent: JsonObject): Promise<WireResponse> {
  const path = `${target.collection}/${target.name}`;
  const query = { dryRun: 'All' };
  switch (verb) {
    case 'create':
      return wire.post(target.collection, sent, query);
    case 'apply':
      return wire.apply(path, 'comparison', sent, { ...query, force: true });
    case 'merge':
      return wire.mergePatch(path, mergeOf(bodyOf(target, target.name), sent), query);
    case 'replace':
      return wire.put(path, sent, query);
  }
}

function mergeOf(before: JsonObject, after: JsonObject): JsonObject {
  const gone = Object.keys(before).filter((field) => after[field] === undefined);
  const kept = Object.entries(after).map(([field, value]): [string, typeof value] => {
    const old = before[field];
    return [field, isObject(value) && isObject(old) ? mergeOf(old, value) : value];
  });
  return Object.fromEntries([...kept, ...gone.map((field): [string, null] => [field, null])]);
}

/** An answer as lines: the status and the reason, then the causes. */
function answerOf(response: WireResponse | undefined): readonly string[] {
  if (response === undefined) return [];
  const { status, body } = response;
  if (status < 300) return ['accepted'];
  const causes = (body.details?.causes ?? []).map(({ field, reason }) => `${field} ${reason}`);
  return [`${status} ${body.reason ?? ''}`, ...new Set(causes.toSorted())];
}

/** Returns whether two answers are equal but for the known differences of a kind. */
function sameAnswers(kind: string, real: readonly string[], memory: readonly string[]): boolean {
  const known = knownDifferences.filter(({ kinds }) => kinds === undefined || kinds.includes(kind));
  const isKnown = (line: string): boolean => known.some(({ answer }) => answer.test(line));
  if (real[0] !== memory[0] && real.concat(memory).some((line) => /^(403|500) /.test(line) && isKnown(line)))
    return true;
  const [a, b] = [real, memory].map((answer) => {
    const rest = answer.filter((line) => !isKnown(line));
    // An object that only known causes refuse is as good as an accepted one.
    return rest.length === 1 && answer.length > 1 ? 'accepted' : rest.join();
  });
  return a === b;
}
