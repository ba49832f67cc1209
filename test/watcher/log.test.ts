// Only the form of a log line, for machines and for people.
import { expect, it } from 'vitest';
import { createLog, type LogOptions } from '../../src/watcher/log.ts';

const lines = (options: LogOptions) => {
  const written: string[] = [];
  const now = () => new Date('2026-11-21T12:00:00.123Z');
  const log = createLog((line) => void written.push(line), { now, fields: { cluster: 'c' }, ...options });
  return { log, written };
};

it('a line is one JSON document with the fields of every line and its own', () => {
  const { log, written } = lines({});
  log.warn('went wrong', { error: 'two\nlines' });
  expect(written).toHaveLength(1);
  expect(written[0]?.trimEnd()).not.toContain('\n');
  expect(JSON.parse(written[0] ?? '')).toEqual({
    level: 'WARN',
    timestamp: '2026-11-21T12:00:00.123Z',
    message: 'went wrong',
    cluster: 'c',
    error: 'two\nlines',
  });
});

it('on a terminal a line is words, and still one line', () => {
  const { log, written } = lines({ readable: true });
  log.warn('went wrong', { keys: 3, error: 'two\nlines', gone: undefined });
  expect(written).toEqual(['12:00:00 WARN  went wrong  cluster=c  keys=3  error="two\\nlines"\n']);
});

it('what is below the least level is not written', () => {
  const { log, written } = lines({ least: 'WARN' });
  log.debug('a');
  log.info('b');
  log.error('c');
  expect(written).toHaveLength(1);
});
