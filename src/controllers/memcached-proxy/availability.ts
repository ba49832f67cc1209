// What a Deployment says of itself, as a condition of the proxy: what was said of an older generation says nothing of this one.
import type { V1Deployment } from '@kubernetes/client-node';
import type { Condition } from '../../core/result.ts';
import type { Live } from './children.ts';

/** Copies the Deployment's Available, once its controller has seen the generation that we read. */
export function availabilityOf({ metadata, status }: Pick<Live<V1Deployment>, 'metadata' | 'status'>): Condition {
  const { name } = metadata;
  if (status?.observedGeneration === undefined) {
    return { status: 'Unknown', reason: 'NotReported', message: `${name}: nothing reported yet` };
  }
  if (status.observedGeneration < metadata.generation) {
    return { status: 'Unknown', reason: 'OutOfDate', message: `${name}: its status is of an older generation` };
  }
  const said = status.conditions?.find(({ type }) => type === 'Available');
  const verdict = said?.status === 'True' || said?.status === 'False' ? said.status : 'Unknown';
  return { status: verdict, reason: said?.reason ?? 'NotReported', message: said?.message ?? '' };
}
