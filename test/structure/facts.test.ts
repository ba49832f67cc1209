// Only figures of the guides that the code decides: each sentence has the figure that its constants give.
import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { awsClient } from '../../src/aws.ts';
import { controllerOptions, functionLimits, resyncDefaults } from '../../src/core/controller-options.ts';
import { remainingMs } from '../../src/lambda/clock.ts';
import { followUpSeconds, graceSeconds, reportSeconds } from '../../src/reconciling/pass/author-call.ts';

const textOf = (file: string) => readFileSync(file, 'utf8').replaceAll(/\s+/g, ' ');
const number = (value: number) => value.toLocaleString('en-US');

const context = { awsRequestId: '', getRemainingTimeInMillis: () => 30_000 };
const signalSeconds = 30 - remainingMs(context) / 1000 + graceSeconds + reportSeconds + followUpSeconds;

let client = { maxAttempts: 0, requestTimeoutMs: 0 };
awsClient(
  class {
    readonly config = {};
    readonly middlewareStack = { add: () => {} };

    constructor({ maxAttempts, requestHandler }: ConstructorParameters<Parameters<typeof awsClient>[0]>[0]) {
      client = { maxAttempts, requestTimeoutMs: requestHandler.httpHandlerConfigs().requestTimeout ?? 0 };
    }
  },
);

const { retry, resyncPeriodSeconds } = controllerOptions('any', {});
const { concurrency, batchSize, timeoutSeconds } = functionLimits;
const optionRows = Object.entries(functionLimits).map(
  ([name, { default: preset, min, max }]) =>
    ['options', new RegExp(`\\| \`${name}\` \\| ${preset} \\|.*?\\(${number(min)} to ${number(max)}\\)`)] as const,
);

const facts: readonly (readonly [page: string, sentence: string | RegExp])[] = [
  ...optionRows,
  [
    'options',
    `| \`retry\` | \`{ firstSeconds: ${retry.firstSeconds}, maxSeconds: ${retry.maxSeconds}, attempts: ${retry.attempts} }\` |`,
  ],
  ['options', `| \`resyncPeriodSeconds\` | ${number(resyncPeriodSeconds)};`],
  ['write/members', `Aborts ${signalSeconds} s before the function's timeout.`],
  ['write/errors-and-retries', `it aborts ${signalSeconds} seconds before the function's timeout`],
  ['write/aws-resources', `| \`maxAttempts\` | ${client.maxAttempts},`],
  ['write/aws-resources', `| \`requestTimeoutMs\` | ${number(client.requestTimeoutMs)} for each attempt.`],
  ['write/aws-resources', `a function has ${timeoutSeconds.default} seconds`],
  ['write/external-apis', `so a system can receive ${concurrency.default * batchSize.default} calls at once`],
];
it.each(facts)('docs/%s.md says what the code decides: %s', (page, sentence) => {
  if (typeof sentence === 'string') expect(textOf(`docs/${page}.md`)).toContain(sentence);
  else expect(textOf(`docs/${page}.md`)).toMatch(sentence);
});

it('each page that says when a missed change of a spec is found has the minutes that the settings give', () => {
  const minutes = (resyncDefaults.runIntervalSeconds + resyncDefaults.missedAfterSeconds) / 60;
  const pages = ['README.md', ...globSync('docs/**/*.md')].filter((file) => textOf(file).includes('an hour if'));
  expect(pages.length).toBeGreaterThan(2);
  const right = new RegExp(`${minutes} minutes[,;]? \\(?(or )?an hour if (that|the|the controller's) `);
  expect(pages.filter((file) => !right.test(textOf(file)))).toEqual([]);
});
