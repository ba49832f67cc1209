// The check of a controller's permissions on AWS: which its calls need, and which none of them needs.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Permission, permitsAction } from '../../api/permissions.ts';
import { type AwsCall, actionsOf, awsCalls, missingPermission } from '../../aws/calls.ts';
import { removed } from './removal.ts';
import { converged, fail } from './report.ts';
import type { Stage } from './stage.ts';

export const permissionsName = 'every call to AWS is permitted, and every permission is used';

/**
 * Follows each sample until it is Ready and until it is deleted, and compares its calls by awsClient with the
 * permissions. Returns what no sample has shown. Rejects with the actions that are not permitted.
 */
export async function checkPermissions(
  permissions: readonly Permission[],
  opens: readonly (() => Promise<Stage>)[],
): Promise<string | undefined> {
  const needed = new Set<string>();
  const onCall = (call: unknown) => {
    for (const action of actionsOf(call as AwsCall)) needed.add(action);
  };
  subscribe(awsCalls, onCall);
  try {
    for (const open of opens) {
      await using stage = await open();
      await converged(stage);
      await removed(stage);
    }
  } finally {
    unsubscribe(awsCalls, onCall);
  }
  const missing = [...needed].filter((action) => !permissions.some((one) => permitsAction(one, action)));
  if (missing.length > 0) {
    fail(`calls to AWS are not permitted: ${missing.join(', ')}`, missingPermission(missing));
  }
  const unused = permissions
    .flatMap(({ actions }) => actions)
    .filter((pattern) => ![...needed].some((action) => permitsAction({ actions: [pattern], resources: [] }, action)));
  if (needed.size === 0 && permissions.length > 0)
    return 'no sample calls AWS by awsClient of outrigger/aws, so no permission was compared';
  return unused.length === 0
    ? undefined
    : `no sample needs ${unused.join(', ')}; remove them, or give a sample that does`;
}
