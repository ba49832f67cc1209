// Saved CloudWatch Logs Insights queries for the functions' logs, under the deployment's name. They show figures by key
// and cluster, which are no dimensions of the metrics.
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import type { Json, JsonObject } from 'outrigger/internal/core/json';
import { logicalId } from 'outrigger/internal/core/names';
import { namePrefix, ref } from './names.ts';
import { ownFile } from './own-file.ts';
import { functionNames } from './wakes.ts';

/** The quota "log groups per query" of CloudWatch Logs Insights. */
const maxLogGroups = 50;

/** Makes the saved queries of queries.txt, by id. There each is after a line with its id and its title. */
export function queriesOf(registry: readonly ControllerDefinition[]): JsonObject {
  const LogGroupNames = functionNames(registry)
    .slice(0, maxLogGroups)
    .map((name): Json => ref(`${logicalId(name)}LogGroup`));
  const queries = ownFile('queries.txt').matchAll(/^# (\w+): (.+)\n((?:.+\n)+)/gm);
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
