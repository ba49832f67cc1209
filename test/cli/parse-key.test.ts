// Only the keys that a controller maps to others of the kind that it reconciles. Other keys are in replay.test.ts.

import { completeKey, parseKey, withKinds } from '@outrigger/cli/commands/parse-key';
import { expect, it } from 'vitest';
import { Deployment } from '../../src/kubernetes.ts';

it('a key of the reconciled kind in the group of mapped keys, as a log has it, is one of a controller that maps the kind', () => {
  const reconcile = async () => undefined;
  const maps = Deployment.controller('maps', { watches: [{ kind: Deployment, mapToKeys: async () => [] }], reconcile });
  const alone = Deployment.controller('maps', { reconcile });
  const key = { namespace: 'shop', name: 'a' };
  const complete = (controller: typeof alone) =>
    completeKey(parseKey('maps:local:deployments.mapped.apps/shop/a', [controller]), withKinds(controller), 'local');
  expect(complete(maps)).toEqual({
    controller: 'maps',
    cluster: 'local',
    group: 'mapped.apps',
    resource: 'deployments',
    ...key,
  });
  expect(() => complete(alone)).toThrow('maps neither reconciles nor watches deployments.mapped.apps');
});
