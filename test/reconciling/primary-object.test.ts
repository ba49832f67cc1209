// Only what a returned object means for the primary object. Its writes are in reconcile.test.ts and finalize-*.test.ts.
import { expect, it } from 'vitest';
import { isConflict } from '../../src/kube/client/errors.ts';
import { createPrimaryObject } from '../../src/reconciling/primary-object.ts';

it('an object that a write returns without the finalizer that was read is a conflict, and is not stored', () => {
  const finalizer = 'outrigger.dev/widget';
  const metadata = { name: 'one', uid: 'u', resourceVersion: '1', finalizers: [finalizer] };
  const read = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
  const own = { conditions: [], fields: [], sharedFields: [] };
  const primary = createPrimaryObject(read, { fieldManager: 'm', finalizer, statusWriter: { own } });
  const returned = { ...read, metadata: { ...metadata, resourceVersion: '2', finalizers: [] } };
  expect(() => primary.written(returned)).toThrow(expect.toSatisfy(isConflict));
  expect(primary.current()).toBe(read);
});
