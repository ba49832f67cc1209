// Saved CloudWatch Logs Insights queries for the functions' logs, under the deployment's name. They show figures by key
// and cluster, which are no dimensions of the metrics.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import type { Json, JsonObject } from 'outrigger/internal/core/json';
import { logicalId, resyncQueue, timersQueue } from 'outrigger/internal/core/names';
import { namePrefix, ref } from './names.ts';
import { wakers } from './wakes.ts';

/** The quota "log groups per query" of CloudWatch Logs Insights. */
const maxLogGroups = 50;

/** The queries, each after a line with its id and its title. */
const file = path.join(import.meta.dirname, '../../src/aws/queries.txt');

/** Makes the saved queries, by id. */
export function queriesOf(registry: readonly ControllerDefinition[]): JsonObject {
  const LogGroupNames = functionsOf(registry).map((name): Json => ref(`${logicalId(name)}LogGroup`));
  const queries = readFileSync(file, 'utf8').matchAll(/^# (\w+): (.+)\n((?:.+\n)+)/gm);
  return Object.fromEntries(
    [...queries].map(([, id, title, text = '']) => [
      `${id}Query`,
      {
        Type: 'AWS::Logs::QueryDefinition',
        Properties: { Name: `${namePrefix.slice(0, -1)}/${title}`, LogGroupNames, QueryString: text.trimEnd() },
      },
    ]),
  );
}

function functionsOf(registry: readonly ControllerDefinition[]): readonly string[] {
  return [...registry.map(({ name }) => name), timersQueue, resyncQueue, ...wakers(registry)].slice(0, maxLogGroups);
}
