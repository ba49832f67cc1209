// The options of a controller: defaults, limits and what is derived from them. That the template has them is
// test/generate/controller-options.test.ts.
import { expect, it } from 'vitest';
import {
  controllerOptions,
  missedAfterSecondsOf,
  optionParameter,
  visibilitySecondsOf,
} from '../../src/core/controller-options.ts';

const defaults = {
  concurrency: 10,
  reservedConcurrency: false,
  timeoutSeconds: 30,
  memoryMb: 256,
  batchSize: 10,
  retry: { firstSeconds: 2, maxSeconds: 900, attempts: 10 },
  resyncPeriodSeconds: 36_000,
};

it('a controller without options has the defaults', () => {
  expect(controllerOptions('tank', {})).toEqual(defaults);
});

it.each([
  [{ concurrency: 2 }, { concurrency: 2 }],
  [{ timeoutSeconds: 900 }, { timeoutSeconds: 900 }],
  [{ retry: { attempts: 3 } }, { retry: { ...defaults.retry, attempts: 3 } }],
  // A first delay above the default of the longest one raises that.
  [{ retry: { firstSeconds: 1_000 } }, { retry: { ...defaults.retry, firstSeconds: 1_000, maxSeconds: 1_000 } }],
  [{ rateLimit: { perSecond: 5 } }, { rateLimit: { perSecond: 5, burst: 50 } }],
  [{ rateLimit: { perSecond: 5, burst: 7 } }, { rateLimit: { perSecond: 5, burst: 7 } }],
])('options %j change only what they name', (given, changed) => {
  expect(controllerOptions('tank', given)).toEqual({ ...defaults, ...changed });
});

it.each([
  [{ concurrency: 1 }, 'controller tank.concurrency: 1 is not valid; give a number from 2 to 1000'],
  [{ timeoutSeconds: 901 }, 'controller tank.timeoutSeconds: 901 is not valid; give a number from 10 to 900'],
  [{ memoryMb: 64 }, 'controller tank.memoryMb: 64 is not valid; give a number from 128 to 10240'],
  [{ batchSize: 11 }, 'controller tank.batchSize: 11 is not valid; give a number from 1 to 10'],
  [{ batchSize: 2.5 }, 'controller tank.batchSize: 2.5 is not valid; give a whole number'],
  [{ concurrency: Number.NaN }, 'controller tank.concurrency: NaN is not valid; give a number from 2 to 1000'],
  [{ retry: { attempts: 0 } }, 'controller tank.retry.attempts: 0 is not valid; give a number from 1 to 1000'],
  [
    { retry: { firstSeconds: 60, maxSeconds: 30 } },
    'controller tank.retry.maxSeconds: 30 is not valid; give a number from 60 to 86400',
  ],
  [{ rateLimit: { perSecond: 0 } }, 'controller tank.rateLimit.perSecond: 0 is not valid; give a number from 0.1'],
  [{ resyncPeriodSeconds: 1 }, 'controller tank.resyncPeriodSeconds: 1 is not valid; give a number from 60 to'],
])('options %j are refused with the option and its limits', (given, message) => {
  expect(() => controllerOptions('tank', given)).toThrow(message);
});

it('a change counts as missed only after the visibility timeout of the queue', () => {
  const slow = controllerOptions('tank', { timeoutSeconds: 100 });
  expect(visibilitySecondsOf(slow.timeoutSeconds)).toBe(600);
  expect(missedAfterSecondsOf(slow, 240)).toBe(660);
  expect(missedAfterSecondsOf(controllerOptions('tank', {}), 240)).toBe(240);
});

it('the parameter of an option is the controller and the option in capitals', () => {
  expect(optionParameter('water-tank', 'timeoutSeconds')).toBe('WATER_TANK_TIMEOUT_SECONDS');
});
