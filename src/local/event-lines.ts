// What the local Lambda and the watchers did, as lines for a person.
import path from 'node:path';
import { FunctionError } from '../dev/lambda/function-process.ts';
import type { LambdaEvent } from '../dev/lambda/local-lambda.ts';
import { type Line, linesOfLog } from './lines.ts';
import type { WatcherEvent } from '../dev/watchers.ts';

/** Tells of an event of the Lambda service. `prefix` is the deployment's, `kindOf` gives a controller's kind. */
export function lambdaLines(
  event: LambdaEvent,
  {
    prefix,
    kindOf,
    root,
  }: { readonly prefix: string; readonly kindOf: ReadonlyMap<string, string>; readonly root: string },
): readonly Line[] {
  const who = event.function.startsWith(prefix) ? event.function.slice(prefix.length) : event.function;
  if (event.type === 'failed') return [{ who, text: failureText(event.error, root) }];
  return linesOfLog(event.text, { who, kind: kindOf.get(who), nowSeconds: Date.now() / 1000 });
}

/** Tells of a watcher's coming and going, and of what it warns of. */
export function watcherLines(event: WatcherEvent): readonly Line[] {
  const fields = { pid: event.pid };
  if (event.type === 'line')
    return linesOfLog(event.text, { who: 'watcher', kind: undefined, nowSeconds: Date.now() / 1000 });
  if (event.type === 'watching') return [{ who: 'watcher', text: `watches every kind (pid ${event.pid})`, fields }];
  if (event.type === 'started') return [{ who: 'watcher', text: `started (pid ${event.pid})`, fields }];
  const then = event.again ? '; it is started again' : '';
  return [{ who: 'watcher', text: `ended: ${event.how} (pid ${event.pid})${then}`, fields }];
}

function failureText(error: Error, root: string): string {
  if (!(error instanceof FunctionError)) return `failed: ${error.message}`;
  const place = error.trace.map((line) => placeIn(line, root)).find((found) => found !== undefined);
  const where = place === undefined ? '' : ` (${place})`;
  const kept = 'the queue keeps its messages';
  if (error.errorType === 'Runtime.ImportModuleError') return `cannot be loaded: ${error.message}${where}; ${kept}`;
  return `failed: ${error.message}${where}; ${kept}`;
}

/** The first place of our own in a stack: `src/controllers/water-tank.ts:12:3`, by the source map. */
function placeIn(line: string, root: string): string | undefined {
  const [, found] = /(?:\(|at |file:\/\/)((?:\/|[A-Za-z]:\\)[^()\s]+:\d+(?::\d+)?)\)?/.exec(line) ?? [];
  if (found === undefined || !found.startsWith(root) || found.includes('node_modules')) return undefined;
  return path.relative(root, found);
}
