// The text of an error with its causes, as statuses, logs and dead letters show it.
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { errorText, toError, UserError } from '../../src/core/errors.ts';
import { listenOnLoopback } from '../support/listen.ts';

const systemError = (message: string, code = 'ECONNREFUSED') => Object.assign(new Error(message), { code });

it('a failed fetch names the address that refused the connection', async () => {
  const server = createServer();
  const port = await listenOnLoopback(server);
  await new Promise((resolve) => server.close(resolve));
  const error: unknown = await fetch(`http://127.0.0.1:${port}/`).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Error);
  expect(error instanceof Error ? errorText(error) : '').toMatch(
    `fetch failed: connect ECONNREFUSED 127.0.0.1:${port}`,
  );
});

it.each<[string, Error, string]>([
  ['without a cause is its message', new Error('no'), 'no'],
  [
    'a port that fetch refuses',
    new TypeError('fetch failed', { cause: new Error('bad port') }),
    'fetch failed: bad port',
  ],
  [
    'names the system error',
    new Error('fetch failed', { cause: systemError('connect 1.2.3.4:80') }),
    'fetch failed: connect 1.2.3.4:80',
  ],
  [
    'of a name with several addresses names the first',
    new Error('fetch failed', {
      cause: new AggregateError([systemError('connect ::1'), systemError('connect 127.0.0.1')], ''),
    }),
    'fetch failed: connect ::1',
  ],
  [
    'of zod has the path and the reason of each issue',
    z.object({ rack: z.object({ watts: z.number() }), id: z.string() }).safeParse({ rack: { watts: 'many' } }).error ??
      new Error(),
    'rack.watts: Invalid input: expected number, received string; id: Invalid input: expected string, received undefined',
  ],
  ['that collects others is their messages', new AggregateError([new Error('no disk'), 'no fan']), 'no disk; no fan'],
  [
    'that collects others has their texts, also of those that they collect, and their causes',
    new AggregateError([
      new AggregateError([new Error('no disk')]),
      new TypeError('fetch failed', { cause: systemError('connect ::1') }),
    ]),
    'no disk; fetch failed: connect ::1',
  ],
  ['that collects others and has a message is that', new AggregateError([new Error('no disk')], 'no rack'), 'no rack'],
  ['without a message is its name', new RangeError(), 'RangeError'],
  ['with a blank message is its name', new RangeError(' '), 'RangeError'],
  ['does not repeat its cause', new Error('GET /: reset', { cause: systemError('reset; add the CA') }), 'GET /: reset'],
  ['has the code of a cause without a message', new Error('a', { cause: systemError('', 'EPIPE') }), 'a: EPIPE'],
  [
    'leaves out a cause that may quote a response',
    new Error('not JSON', { cause: new SyntaxError('"secret"') }),
    'not JSON',
  ],
])('an error %s', (_, error, expected) => {
  expect(errorText(error)).toBe(expected);
});

it('an error that is its own cause, or collects itself, ends', () => {
  const error = systemError('again');
  error.cause = error;
  expect(errorText(error)).toBe('again');
  const collected = new AggregateError([]);
  collected.errors.push(collected);
  expect(errorText(collected)).toBe('AggregateError');
});

it.each<[string, unknown, string]>([
  ['an object with a message', { message: 'the pump is off', status: 503 }, 'the pump is off'],
  [
    'an object without a message',
    { status: 503, body: 'secret' },
    'an object that is not an Error was thrown, with the fields: status, body',
  ],
  [
    'an Error whose message is no text',
    Object.assign(new Error(), { message: { body: 'secret' }, status: 503 }),
    'an object that is not an Error was thrown, with the fields: message, status',
  ],
  ['a text', 'the pump is off', 'the pump is off'],
  ['nothing', undefined, 'undefined'],
])('%s that is thrown has its text as the message', (_, thrown, message) => {
  expect(toError(thrown).message).toBe(message);
});

it('a UserError is one line, also of a message of a server with a million spaces, for which it takes no minutes', () => {
  expect(new UserError('a \r\n\n  b  c\n').message).toBe('a b  c ');
  expect(new UserError(`${' '.repeat(1_000_000)}x`).message).toHaveLength(1_000_001);
});
