// The settings of all processes: their errors name variables, never values. Which variables each function needs is
// test/lambda/handlers.test.ts, the watcher's are test/watcher/run.test.ts.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SettingsError } from '../src/core/errors.ts';
import {
  readCredentials,
  readOperatorSettings,
  readReconcileSettings,
  readResyncSettings,
  readRoleIds,
  readTimersSettings,
  readWatcherSettings,
} from '../src/settings.ts';

const valid = {
  QUEUE_URL_PREFIX: 'https://sqs.example.com/1/',
  CLUSTERS: 'ssm:/a/',
  AWS_ACCESS_KEY_ID: 'id',
  AWS_SECRET_ACCESS_KEY: 'key',
};
const readers = [
  ['a reconcile function', readReconcileSettings],
  ['the timers function', readTimersSettings],
  ['the resync function', readResyncSettings],
  ['the watcher', readWatcherSettings],
  ['the CLI', readOperatorSettings],
] as const;

// Control T90.
it.each(readers)('the settings of %s are invalid if certificates are not verified', (_, read) => {
  expect(() => read({ ...valid, NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toThrow(/NODE_TLS_REJECT_UNAUTHORIZED/);
  expect(() => read({ ...valid, NODE_TLS_REJECT_UNAUTHORIZED: '1' })).not.toThrow();
  expect(() => read(valid)).not.toThrow();
});

// Control T114.
it('a SettingsError never contains the value of a variable', () => {
  const planted = 'planted-credential';
  const value = fc.oneof(
    fc.constantFrom(planted, '', `${planted}\n`, `${planted}://x`, `https://u:${planted}@h:99999999/`),
    fc.string({ unit: 'binary' }).map((text) => `${text}${planted}`),
  );
  const names = [
    ...Object.keys(valid),
    'LOG_LEVEL',
    'PORT',
    'RESYNC_PERIOD_SECONDS',
    'CHECKPOINT_SECONDS',
    'RATE_LIMIT_BURST',
  ];
  const changes = fc.dictionary(fc.constantFrom(...names), value, { minKeys: 1 });
  fc.assert(
    fc.property(fc.constantFrom(...readers.map(([, read]) => read), readCredentials), changes, (read, some) => {
      try {
        read({ ...valid, ...some });
      } catch (error) {
        expect(error).toBeInstanceOf(SettingsError);
        expect(String(error)).not.toContain(planted);
      }
    }),
  );
});

it.each([
  ['neither CLUSTER nor CLUSTERS', { CLUSTERS: '' }, /CLUSTER: set CLUSTER .* or CLUSTERS/],
  ['both CLUSTER and CLUSTERS', { CLUSTER: 'a' }, /CLUSTER: set CLUSTER .* or CLUSTERS/],
  ['a CLUSTER that no message may name', { CLUSTER: 'a:b', CLUSTERS: '' }, /CLUSTER: not a name of letters, digits/],
  ['SHARD without CLUSTERS', { CLUSTER: 'a', CLUSTERS: '', SHARD: '0/2' }, /SHARD: only with CLUSTERS/],
  ['a shard past the last one', { SHARD: '2/2' }, /SHARD: the index counts from 0/],
  ['a watch checkpoint less than hourly', { CHECKPOINT_SECONDS: '3601' }, /CHECKPOINT_SECONDS: Too big/],
  ['a shard that is no fraction', { SHARD: 'first' }, /SHARD: give index\/count/],
])('a watcher with %s does not start, and the error says what to set', (_, more, error) => {
  expect(() => readWatcherSettings({ ...valid, ...more })).toThrow(error);
});

it('a sender check without the id of a role is an error that names the role: it would refuse every message', () => {
  const idOf = (SENDER_CHECK: string, id: string) => {
    const settings = readTimersSettings({ ...valid, SENDER_CHECK, SENDER_IDS: `timers=AROATIMERS,widget=${id}` });
    return readRoleIds(settings, ['timers', 'widget'])?.get('widget');
  };
  expect(() => idOf('on', '')).toThrow(/SENDER_IDS: no id of widget; deploy again$/);
  expect([idOf('off', ''), idOf('on', 'AROAWIDGET')]).toEqual([undefined, 'AROAWIDGET']);
});

it('the CLI names a QUEUE_URL_PREFIX that is no URL, and takes an empty one as not set', () => {
  expect(() => readOperatorSettings({ QUEUE_URL_PREFIX: 'outrigger-dev-' })).toThrow(/QUEUE_URL_PREFIX: Invalid URL/);
  expect(readOperatorSettings({ QUEUE_URL_PREFIX: '' })).toEqual({});
});
