// Two faults at once: responses that are not the API server's, and objects that are deleted in spite of their finalizer
// while the API server also fails.
import { type Fault, isWatch, type ProxiedRequest } from './chaos-proxy.ts';
import { createPlainApi } from './plain-api.ts';
import { portionsPath } from './portions.ts';
import { type ChaosFixture, editUntil, type Row } from './row.ts';

const minDeleted = 5;
const maxFailedReads = 4;

/** The rows of double faults. */
export const doubleFaultRows: readonly Row[] = [
  {
    fault: 'responses of a load balancer',
    how: 'half of all reads of objects and of their writes get the 404 or the page of a load balancer, or another object',
    run: async ({ system, editor, random, changes }) => {
      system.api.rule((request) =>
        isOneObject(request) && random.number() < 0.5 ? random.pick(foreignResponses) : undefined,
      );
      await editor.edit(changes);
      return 0;
    },
  },
  {
    fault: 'deleted in spite of the finalizer',
    how: `new objects lose their finalizer and are deleted before they are read with it; then up to ${maxFailedReads} of their reads get RST; each is finalized, or a dead letter names it`,
    deadLettersName: true,
    run: deleteInSpite,
  },
];

const html = '<html><body>Bad gateway</body></html>';
const otherObject = {
  apiVersion: 'kitchen.example.com/v1',
  kind: 'Ingredient',
  spec: { item: 'rice', amount: 1, unit: 'g' },
  metadata: { name: 'another', namespace: 'default', uid: 'another', resourceVersion: '1', generation: 1 },
};
const foreignResponses: readonly Fault[] = [
  { type: 'respond', status: 404, headers: { 'content-type': 'text/plain' }, body: '404 page not found' },
  { type: 'respond', status: 404, headers: { 'content-type': 'text/html' }, body: html },
  { type: 'respond', status: 200, headers: { 'content-type': 'text/html' }, body: html },
  { type: 'respond', status: 200, body: JSON.stringify(otherObject) },
  { type: 'respond', status: 200, body: '{}' },
];

/** Tells whether a request reads or writes one portion. */
function isOneObject(request: ProxiedRequest): boolean {
  return request.url.startsWith(`${portionsPath}/`) && !isWatch(request);
}

async function deleteInSpite({ system, editor, random, changes, addNote }: ChaosFixture): Promise<number> {
  const api = createPlainApi(system.direct.api);
  /** The portions whose finalizer was just added, and the failed reads that are left for those that were deleted. */
  const added = new Set<string>();
  const failures = new Map<string, number>();
  const errors: unknown[] = [];
  const pending = new Set<Promise<void>>();
  let deleted = 0;
  const remove = async (name: string) => {
    const headers = { 'content-type': 'application/merge-patch+json' };
    await api.call('PATCH', `${portionsPath}/${name}`, { metadata: { finalizers: [] } }, headers);
    await api.call('DELETE', `${portionsPath}/${name}`);
    deleted += 1;
  };
  system.api.rule((request) => {
    if (!isOneObject(request)) return undefined;
    const [name = '', subresource] = new URL(request.url, 'http://a').pathname
      .slice(portionsPath.length + 1)
      .split('/');
    if (request.method === 'PATCH' && subresource === undefined && /"finalizers":\["/.test(request.body)) {
      added.add(name);
      return undefined;
    }
    // kube-apiserver completes a DELETE that it decided before the finalizer was added: here before it is read again.
    if (request.method === 'GET' && added.delete(name)) {
      failures.set(name, random.below(maxFailedReads + 1));
      const until = remove(name).catch((error: unknown) => void errors.push(error));
      pending.add(until);
      return { type: 'hold', until };
    }
    const left = failures.get(name) ?? 0;
    if (request.method !== 'GET' || left === 0) return undefined;
    failures.set(name, left - 1);
    return { type: 'reset' };
  });
  await editor.edit(changes);
  await editUntil({ editor }, () => deleted >= minDeleted);
  await Promise.all(pending);
  system.api.rule();
  api.close();
  addNote(`${deleted} objects deleted in spite of their finalizer`);
  if (errors.length > 0) throw new Error(`could not delete: ${errors.join('; ')}`);
  return deleted;
}
