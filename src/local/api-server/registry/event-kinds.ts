// Events, which two API groups serve by different names: `v1`, as kubectl describes objects, and `events.k8s.io/v1`.
import { checkEvent, checkNewEvent } from '../../../apiserver/registry/builtin-checks.ts';
import type { Described } from '../../../apiserver/registry/resource.ts';

/** Events as the core group knows them, and as they are stored. */
export const EVENT: Described = {
  kind: 'Event',
  plural: 'events',
  shortNames: ['ev'],
  selectable: [
    ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map(
      (f) => `involvedObject.${f}`,
    ),
    ...['reason', 'reportingComponent', 'source', 'type'],
  ],
  check: checkEvent,
};

/** The newer API of the same objects, by other names. */
export const NEW_EVENT: Described = {
  ...EVENT,
  alias: {
    collection: '/events',
    apiVersion: 'v1',
    fields: {
      regarding: 'involvedObject',
      note: 'message',
      reportingController: 'reportingComponent',
      deprecatedSource: 'source',
      deprecatedFirstTimestamp: 'firstTimestamp',
      deprecatedLastTimestamp: 'lastTimestamp',
      deprecatedCount: 'count',
    },
  },
  check: checkNewEvent,
};
