// Children that other clients change at random, as test cases for any API server: after each reconcile a child has all
// that the controller says, an exact path has nothing else, and a second reconcile sends nothing. What the controller
// drops without a foreign write in between is gone, unless another applier has it.
// `RANDOM_WRITES=2000 RANDOM_SEED=7` runs longer, or repeats the run whose seed a failure shows.
import { beforeAll, expect, it } from 'vitest';
import { isRecord } from '../../../src/core/json.ts';
import { ConfigMap, Service } from '../../../src/kubernetes.ts';
import { createSeededRandom } from '../../../tools/chaos/random.ts';
import { useApiServer } from '../../harness/api-server.ts';
import { useNamespace } from '../namespace.ts';
import { gizmo, serveGizmos } from './situations/custom.ts';
import { at } from './situations/situation.ts';
import { type ChildOfKind, type Loose, Stage } from './situations/stage.ts';

const writes = Number(process.env.RANDOM_WRITES ?? 60);
const seed = Number(process.env.RANDOM_SEED ?? Date.now() % 1_000_000);
/** Foreign writes to one child. */
const writesOfOne = 5;

const { connect } = await useApiServer({ controllers: 'none' });
const fixture = useNamespace(connect);
beforeAll(() => serveGizmos(fixture.client));

const random = createSeededRandom(seed);
const some = (of: readonly string[]) => of.filter(() => random.below(2) === 1);
const keys = ['a', 'b', 'c', 'd'];
const mapOf = (values: number) => Object.fromEntries(some(keys).map((key) => [key, String(random.below(values))]));

function randomPorts(): Loose {
  const numbers = some(['80', '81', '82', '83']).map(Number);
  const names = ['w', 'x', 'y', 'z'];
  const offset = random.below(4);
  const ports = (numbers.length === 0 ? [80] : numbers).map((port, index) => ({
    name: names[(index + offset) % 4],
    port,
    protocol: 'TCP',
    ...(random.below(3) === 0 ? { appProtocol: 'h' } : {}),
  }));
  return { spec: { selector: { app: 'a' }, ports } };
}

function randomGizmo(): Loose {
  const items = some(keys).map((id) => ({
    id,
    zone: 'a',
    ...(random.below(2) === 1 ? { v: String(random.below(2)) } : {}),
  }));
  return { spec: { items, set: some(keys), limits: mapOf(2), deep: { m: mapOf(2) } } };
}

type Subject = { readonly kind: ChildOfKind; readonly make: () => Loose; readonly paths: readonly string[] };
const subjects: readonly Subject[] = [
  { kind: ConfigMap, make: () => ({ data: mapOf(3) }), paths: ['data'] },
  { kind: Service, make: randomPorts, paths: ['spec.ports'] },
  { kind: gizmo, make: randomGizmo, paths: ['spec.items', 'spec.set', 'spec.limits', 'spec.deep.m'] },
];

/** The writes of others. The server may refuse one: two ports of one name. */
const foreign: readonly ((stage: Stage, fields: Loose) => Promise<void>)[] = [
  (stage, fields) => stage.merge('kubectl-edit', fields),
  (stage, fields) => stage.apply('kubectl', fields),
  (stage, fields) => stage.put('kubectl-replace', (live) => ({ ...live, ...fields })),
  (stage) => stage.clear(),
  (stage, fields) => stage.restore('velero-server', fields),
  (stage, fields) => stage.merge('outrigger-cases', fields),
];

it(`a child is what the controller says after ${writes} random writes of others (seed ${seed})`, async () => {
  const wrong: unknown[] = [];
  let done = 0;
  for (let run = 0; done < writes; run += 1) {
    const { kind, make, paths } = subjects[run % subjects.length] ?? random.pick(subjects);
    const isExact = random.below(2) === 1;
    const stage = new Stage(fixture, kind, { name: `r${run}`, ...(isExact ? { exact: paths } : {}) });
    const trail: unknown[] = [];
    await stage.reconcile(make());
    for (let write = 0; write < writesOfOne; write += 1) {
      const [other, desired, dropped] = [make(), make(), make()];
      const index = random.below(foreign.length);
      await foreign[index]?.(stage, other).catch((error: unknown) => trail.push(String(error)));
      done += 1;
      trail.push([index, other, desired]);
      await stage.reconcile(desired);
      await stage.reconcile(desired);
      const errors = await faults(stage, paths, desired, isExact);
      await stage.reconcile(dropped);
      await stage.reconcile(dropped);
      errors.push(
        ...(await faults(stage, paths, dropped, isExact)),
        ...(await leftovers(stage, paths, desired, dropped)),
      );
      const [, second, , fourth] = stage.reconciles.slice(-4);
      if (second !== '0' || fourth !== '0') errors.push(`requests: ${stage.reconciles.slice(-4).join('; ')}`);
      if (errors.length === 0) continue;
      wrong.push({ kind: kind.kind, isExact, errors, trail: trail.slice(-2), dropped });
      break;
    }
    // Each reconcile lists the children that are left.
    await stage.remove();
  }
  expect(wrong).toEqual([]);
}, 600_000);

/** What of the desired fields is not there, and with an exact path what else is. */
async function faults(stage: Stage, paths: readonly string[], desired: Loose, isExact: boolean): Promise<string[]> {
  const live = await stage.read();
  return paths.flatMap((path) => {
    const [wanted, there] = [at(desired, path), at(live, path)];
    const isThere = isWithin(wanted, there ?? (Array.isArray(wanted) ? [] : {}));
    const isAlone = !isExact || namesIn(there).every((name) => namesIn(wanted).includes(name));
    return isThere && isAlone ? [] : [`${path}: ${JSON.stringify(wanted)} is ${JSON.stringify(there)}`];
  });
}

/** What the controller has dropped and no other applier has. */
async function leftovers(stage: Stage, paths: readonly string[], before: Loose, now: Loose): Promise<string[]> {
  const live = await stage.read();
  const others = (live.metadata.managedFields ?? []).filter(
    ({ manager, operation }) => operation === 'Apply' && manager === 'kubectl',
  );
  const theirs = JSON.stringify(others);
  return paths.flatMap((path) => {
    const dropped = namesIn(at(before, path)).filter((name) => !namesIn(at(now, path)).includes(name));
    const left = dropped.filter((name) => namesIn(at(live, path)).includes(name));
    return left.filter((name) => !hasName(theirs, name)).map((name) => `${path}: ${name} is left`);
  });
}

/** Whether fieldsV1 names a key, an item or a member. */
function hasName(fields: string, name: string): boolean {
  return [`"f:${name}"`, `\\"id\\":\\"${name}\\"`, `"v:\\"${name}\\""`, `\\"port\\":${name},`].some((step) =>
    fields.includes(step),
  );
}

/** The keys of a map, the ids or ports of a list, or the members of a set. */
function namesIn(value: unknown): readonly string[] {
  if (Array.isArray(value))
    return value.map((one: unknown) => (isRecord(one) ? String(one.id ?? one.port) : String(one)));
  return isRecord(value) ? Object.keys(value) : [];
}

function isWithin(desired: unknown, live: unknown): boolean {
  if (Array.isArray(desired))
    return Array.isArray(live) && desired.every((one) => live.some((other) => isWithin(one, other)));
  if (!isRecord(desired)) return desired === live;
  return isRecord(live) && Object.entries(desired).every(([name, value]) => isWithin(value, live[name]));
}
