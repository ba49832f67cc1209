// Whether a reconcile follows nothing but a write of its own controller.
import { expect, it } from 'vitest';
import { followsOwnWrite } from '../../src/reconciling/pass/report-pass.ts';
import type { Cause, Message } from '../../src/sqs/message.ts';

const own = 'outrigger-size-label';
const change: Cause = { type: 'change', uid: 'u', resourceVersion: '7', observedAt: 1 };
const ofChild: Cause = { ...change, object: ['apps', 'deployments', 'shop', 'web'] };
const at = (manager: string, second: number, subresource?: string) => ({
  ...{ manager, time: `2026-01-01T00:00:0${second}Z` },
  ...(subresource === undefined ? {} : { subresource }),
});

it.each<[string, Pick<Message, 'cause' | 'merged'>, readonly ReturnType<typeof at>[], boolean]>([
  ['its own write', { cause: change }, [at('kubectl', 1), at(own, 2)], true],
  ['its own status', { cause: change }, [at('kubectl', 1), at(own, 2, 'status')], true],
  ['several of its own writes', { cause: change, merged: { count: 1, causes: [change] } }, [at(own, 2)], true],
  ['a write of another client', { cause: change }, [at(own, 1), at('kubectl', 2)], false],
  ['a write of another client in the same second', { cause: change }, [at(own, 2), at('kubectl', 2)], false],
  ['a change of a child', { cause: ofChild }, [at(own, 2)], false],
  ['its own write and one of a child', { cause: change, merged: { count: 1, causes: [ofChild] } }, [at(own, 2)], false],
  ['no managed fields', { cause: change }, [], false],
])('a reconcile that follows %s is found out (row %#)', (_, message, fields, expected) => {
  const object = { metadata: { name: 'web', managedFields: [...fields] } };
  expect(followsOwnWrite(message, object, own)).toBe(expected);
});
