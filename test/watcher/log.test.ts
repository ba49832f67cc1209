// The format of log lines, as JSON and on a terminal.
import { expect, it } from 'vitest';
import { createLog, type LogOptions } from '../../src/watcher/log.ts';

const lines = (options: LogOptions) => {
  const written: string[] = [];
  const now = () => new Date('2026-11-21T12:00:00.123Z');
  const log = createLog((line) => void written.push(line), { now, fields: { cluster: 'c' }, ...options });
  return { log, written };
};

it('a log line is one JSON document with the common fields and its own', () => {
  const { log, written } = lines({});
  log.warn('watch failed', { error: 'two\nlines' });
  expect(written).toHaveLength(1);
  expect(written[0]?.trimEnd()).not.toContain('\n');
  expect(JSON.parse(written[0] ?? '')).toEqual({
    level: 'WARN',
    timestamp: '2026-11-21T12:00:00.123Z',
    message: 'watch failed',
    cluster: 'c',
    error: 'two lines',
  });
});

it('a log line on a terminal is readable text on one line', () => {
  const { log, written } = lines({ readable: true });
  log.warn('watch failed', { keys: 3, error: 'two\nlines', gone: undefined });
  expect(written).toEqual(['12:00:00 WARN  watch failed  cluster=c  keys=3  error="two lines"\n']);
});

// Control T118.
it.each([true, false])('a log line has no control or direction character of a server, readable: %s', (readable) => {
  const { log, written } = lines({ readable });
  const text = 'a\u001b[2J\u009b2J\u202eb\nfake';
  log.warn('watch failed', { text });
  expect(written.join('').trimEnd()).toMatch(/^[ -~]+$/);
  expect(written.join('')).toContain(String.raw`\u009b2J\u202eb`);
  if (!readable) expect(JSON.parse(written[0] ?? '')).toMatchObject({ text });
});

it.each([true, false])('no text of a line has a credential, readable: %s', (readable) => {
  const { log, written } = lines({ readable });
  log.warn('entry ignored', { said: 'token=hunter2', all: ['password=hunter2'], error: new Error('secret=hunter2') });
  expect(written.join('').split('[redacted]')).toHaveLength(4);
  expect(written.join('')).not.toContain('hunter2');
});

it('the key of a line stays as it is', () => {
  const { log, written } = lines({});
  log.info('reconciled', { key: 'api-token:alpha:gadgets.example.com/shop/one' });
  expect(JSON.parse(written[0] ?? '')).toMatchObject({ key: 'api-token:alpha:gadgets.example.com/shop/one' });
});

it('a message below the minimum level is not written', () => {
  const { log, written } = lines({ minLevel: 'WARN' });
  log.debug('a');
  log.info('b');
  log.warn('c');
  log.error('d');
  expect(written).toHaveLength(2);
});
