// What a process is told by its environment, and what it says of it: names, never values. Which variables each function needs is
// test/lambda/handlers.test.ts, the watcher's are test/watcher/main.test.ts.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SettingsError } from '../src/core/errors.ts';
import {
  readCredentials,
  readOperatorSettings,
  readReconcileSettings,
  readResyncSettings,
  readTimersSettings,
  readWatcherSettings,
} from '../src/settings.ts';

const good = {
  ...{ QUEUE_URL_PREFIX: 'https://sqs.example.com/1/', CLUSTERS: 'ssm:/a/', CLUSTER: 'a' },
  ...{ AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key' },
};
const everyone = [
  ['a reconcile', readReconcileSettings],
  ['the timers', readTimersSettings],
  ['the resync', readResyncSettings],
  ['the watcher', readWatcherSettings],
  ['an operator', readOperatorSettings],
] as const;

it.each(everyone)('%s does not run where certificates are not verified', (_, read) => {
  expect(() => read({ ...good, NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toThrow(/NODE_TLS_REJECT_UNAUTHORIZED/);
  expect(() => read({ ...good, NODE_TLS_REJECT_UNAUTHORIZED: '1' })).not.toThrow();
  expect(() => read(good)).not.toThrow();
});

it('whatever is wrong with a variable, its value is not said', () => {
  const planted = 'planted-credential';
  const value = fc.oneof(
    fc.constantFrom(planted, '', `${planted}\n`, `${planted}://x`, `https://u:${planted}@h:99999999/`),
    fc.string({ unit: 'binary' }).map((text) => `${text}${planted}`),
  );
  const names = [...Object.keys(good), 'LOG_LEVEL', 'PORT', 'RESYNC_PERIOD_SECONDS', 'CURSOR_SECONDS', 'FORWARD_BURST'];
  const changes = fc.dictionary(fc.constantFrom(...names), value, { minKeys: 1 });
  fc.assert(
    fc.property(fc.constantFrom(...everyone.map(([, read]) => read), readCredentials), changes, (read, some) => {
      try {
        read({ ...good, ...some });
      } catch (error) {
        expect(error).toBeInstanceOf(SettingsError);
        expect(String(error)).not.toContain(planted);
      }
    }),
  );
});
