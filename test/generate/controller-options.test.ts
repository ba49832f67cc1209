// The options of controllers in what is generated from them: each value is where AWS and the watcher read it, those of
// --param included. The limits are test/core/controller-options.test.ts.

import { readStack, type Stack } from '@outrigger/cli/dev/lambda/stack';
import { parseTemplate } from '@outrigger/cli/dev/lambda/template';
import { generatedFiles } from '@outrigger/cli/project/manifests';
import { checkControllerOptions } from '@outrigger/cli/serverless/controller-options';
import { OptionError } from '@outrigger/cli/serverless/options';
import { withPaused } from '@outrigger/cli/serverless/paused';
import type { Template } from '@outrigger/cli/serverless/template';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { watchListOf } from '../../src/generate/watch-list.ts';
import { hot, Kettle, registry } from './kettle-registry.ts';
import { packageTemplate } from './package-template.ts';

const registryFile = ['generate/kettle-registry.ts', 'registry'] as const;

type Row = readonly number[];

/**
 * The values of a controller that AWS and the local system read from the template: timeout, visibility timeout, memory,
 * batch size, maximum and reserved concurrency.
 */
function rowOf(text: string, name: string): Row {
  const stack: Stack = readStack(parseTemplate(text), {
    region: 'eu-central-1',
    accountId: '123456789012',
    parameters: {},
  });
  const mapping = stack.mappings.find(({ queueArn }) => queueArn.endsWith(`-${name}.fifo`));
  const found = stack.functions.find(({ arn }) => arn === mapping?.functionArn);
  const queue = stack.queues.find(({ arn }) => arn === mapping?.queueArn);
  const id = `${name.charAt(0).toUpperCase()}${name.slice(1)}LambdaFunction`;
  const { ReservedConcurrentExecutions: reserved } = JSON.parse(text).Resources[id].Properties;
  return [
    found?.timeoutSeconds ?? 0,
    Number(queue?.attributes.VisibilityTimeout),
    found?.memoryMegabytes ?? 0,
    mapping?.batchSize ?? 0,
    mapping?.maximumConcurrency ?? 0,
    ...(reserved === undefined ? [] : ([reserved] as const)),
  ];
}

/**
 * The seconds after which the alarm late fires, the periods of the alarm errors and how many of them must have an error,
 * and the receives before a dead letter.
 */
function alarmsOf(text: string, id: string): Row {
  const { Resources } = JSON.parse(text);
  const { Period, EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods } = Resources[`${id}ErrorsAlarm`].Properties;
  const { maxReceiveCount } = Resources[`${id}Queue`].Properties.RedrivePolicy;
  const { Threshold } = Resources[`${id}LateAlarm`].Properties;
  return [Threshold, Period, EvaluationPeriods, DatapointsToAlarm, maxReceiveCount];
}

describe('the options of controllers in the packaged template', () => {
  let declared: string;
  let overridden: string;

  beforeAll(async () => {
    declared = await packageTemplate('test', [], { registry: registryFile });
    overridden = await packageTemplate(
      'test',
      ['PLAIN_CONCURRENCY=50', 'PLAIN_TIMEOUT_SECONDS=400', 'PLAIN_MEMORY_MB=1024', 'PLAIN_BATCH_SIZE=1'].concat(
        'TUNED_CONCURRENCY=30',
        'PAUSED=plain',
        'LOG_LEVEL=DEBUG',
      ),
      { registry: registryFile },
    );
  }, 240_000);

  it('PAUSED disables the event source mapping of its controllers alone, and refuses a name without a queue', () => {
    const template: Template = JSON.parse(declared);
    const enabled = (paused: readonly string[]) =>
      Object.entries(withPaused(template, paused, 'outrigger-test-').Resources).flatMap(([id, { Type, Properties }]) =>
        Type === 'AWS::Lambda::EventSourceMapping' && Properties?.Enabled !== false ? [id] : [],
      );
    expect(enabled([])).toHaveLength(4);
    expect(enabled([]).filter((id) => !enabled(['plain']).includes(id))).toEqual([
      expect.stringMatching(/^PlainEventSourceMappingSQSPlainQueue/),
    ]);
    expect(() => enabled(['kettle'])).toThrow(
      new OptionError('PAUSED: there is no controller kettle; use some of plain, tuned'),
    );
  });

  it('a controller without options has the defaults', () => {
    expect(rowOf(declared, 'plain')).toEqual([30, 180, 256, 10, 10]);
  });

  it('each declared option is where it belongs, and the visibility timeout follows the timeout', () => {
    expect(rowOf(declared, 'tuned')).toEqual([900, 5400, 512, 4, 20, 20]);
  });

  it('a reconcile of 15 minutes fires no alarm late, three deaths by one key fire errors, and it is delivered for two days', () => {
    expect([alarmsOf(declared, 'Plain'), alarmsOf(declared, 'Tuned')]).toEqual([
      [300, 300, 3, 3, 960],
      [1800, 900, 21, 3, 32],
    ]);
    expect(alarmsOf(overridden, 'Plain')).toEqual([800, 600, 14, 3, 72]);
  });

  it('--param overrides an option of one controller in one stage, and what is derived from it', () => {
    expect(rowOf(overridden, 'plain')).toEqual([400, 2400, 1024, 1, 50]);
    expect(rowOf(overridden, 'tuned')).toEqual([900, 5400, 512, 4, 30, 30]);
  });

  it('--param LOG_LEVEL is that of every function, which is INFO without it', () => {
    const levels = [declared, overridden].map((text) => new Set(text.match(/(?<="LOG_LEVEL": ?")[A-Z]+/g)));
    expect(levels).toEqual([new Set(['INFO']), new Set(['DEBUG'])]);
  });
});

it('a rate limit is in the watch list, for its controller alone', () => {
  expect(watchListOf(registry).rateLimits).toEqual({ tuned: { perSecond: 5, burst: 9 } });
});

it.each(['1', '1001', '2.5', '', 'many'])('--param PLAIN_CONCURRENCY=%s is refused with its limits', (value) => {
  expect(() => checkControllerOptions(registry, { PLAIN_CONCURRENCY: value })).toThrow(
    /^PLAIN_CONCURRENCY: ".*" is not valid; give a whole number from 2 to 1000$/,
  );
});

it('a setting with the name of an option is refused', () => {
  const clash = Kettle.controller('plain', {
    settings: z.object({ PLAIN_MEMORY_MB: z.string() }),
    clients: () => ({}),
    reconcile: async () => hot,
  });
  expect(() => generatedFiles([clash])).toThrow('plain.settings.PLAIN_MEMORY_MB: an option of a controller has');
});
