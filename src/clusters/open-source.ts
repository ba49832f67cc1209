// Which kind of clusters table a setting means.
import type { SSMClient } from '@aws-sdk/client-ssm';
import { createFileSource } from './file-source.ts';
import { createSsmSource } from './registry/ssm-source.ts';
import type { ClusterSource } from './table.ts';

/** Opens the table that `ssm:/path/` or a file's path names. The AWS client is made only when it is needed. */
export function openClusterSource(place: string, createSsm: () => SSMClient): ClusterSource {
  return place.startsWith('ssm:') ? createSsmSource(createSsm(), place.slice('ssm:'.length)) : createFileSource(place);
}
