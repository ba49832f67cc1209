// Only an object that its controller deletes, with a finalizer, on any API server. test/statements/own-end.test.ts has the
// whole system.
import { expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import { silentLog } from '../../src/core/log.ts';
import { crdOf } from '../../src/generate/crd/crd.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { parseObject } from '../../src/kube/client/object.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { createReconcile } from '../../src/reconciling/reconcile.ts';
import { withoutQueue } from '../../src/reconciling/without-queue.ts';
import { useClient } from '../harness/api-server.ts';
import { aMessage } from '../sqs/messages.ts';

const Token = defineKind({
  ...{ group: 'own-end.example.com', version: 'v1', kind: 'Token', conditions: ['Used'] },
  ...{ spec: z.object({}), status: z.object({}) },
});
const { name, declaration, start } = Token.controller('own-end', {
  deletesSelf: true,
  async reconcile(_, { deleteSelf }) {
    await deleteSelf();
    return { status: {}, conditions: { Used: { status: 'True', reason: 'Used' } } };
  },
  finalize: async () => 'done',
});
const client = await useClient(parseObject(crdOf(Token)));

it('an object that deletes itself is finalized and gone, and nothing fails', async () => {
  const key = { namespace: 'default', name: 'one' };
  const object = { apiVersion: Token.apiVersion, kind: 'Token', metadata: key, spec: {} };
  await applyObject(client, Token, object, { fieldManager: 'test' });
  const reconcile = withoutQueue(
    createReconcile({ name, declaration, instance: start({}, undefined), now: () => new Date() }),
  );
  const { group, plural: resource } = Token;
  const message = aMessage({ controller: name, group, resource, ...key });
  const outcomes: string[] = [];
  for (let time = 0; time < 3; time += 1) {
    const { signal } = new AbortController();
    const { outcome } = await reconcile({ client, message, messageId: 'one', log: silentLog, signal });
    outcomes.push(outcome.type);
  }
  expect(await getObject(client, Token, key)).toBeUndefined();
  expect(new Set(outcomes)).toEqual(new Set(['done', 'nothing']));
});
