// Finds the container of a pod that a command runs in. The checks are those of kube-apiserver in its order, then those
// of the kubelet. Sources: pkg/registry/core/pod/strategy.go (streamLocation) and pkg/kubelet/kubelet_pods.go
// (GetExec).
import { getIn, getList, getString, isObject } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { badRequest } from '../status-error.ts';
import type { ExecRequest } from './execute.ts';

/** A container, with the address and the image that the pod states. */
export type ExecTarget = Pick<ExecRequest, 'container' | 'ip' | 'image'> & {
  /** False: the container has no process, and the kubelet responds with 500. */
  readonly running: boolean;
};

/** Returns the container that `requested` names, or the only container for ''. Throws StatusErrors: 400. */
export function execTarget(pod: ApiObject, requested: string): ExecTarget {
  const name = pod.metadata.name ?? '';
  const containers = getList(pod, 'spec', 'containers');
  const names = containers.map((one) => getString(one, 'name'));
  if (requested === '' && names.length !== 1) {
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`);
  }
  const container = requested === '' ? (names[0] ?? '') : requested;
  const found = containers[names.indexOf(container)];
  if (found === undefined) throw badRequest(`container ${container} is not valid for pod ${name}`);
  const ip = getString(pod, 'status', 'podIP');
  // The workload simulator does not bind pods to nodes. A pod with an address counts as scheduled.
  if ((getString(pod, 'spec', 'nodeName') || getString(pod, 'status', 'hostIP') || ip) === '') {
    throw badRequest(`pod ${name} does not have a host assigned`);
  }
  const statuses = getList(pod, 'status', 'containerStatuses');
  const state = getIn(
    statuses.find((one) => getString(one, 'name') === container),
    'state',
  );
  const stopped = isObject(state) && state.running === undefined;
  const image = getString(found, 'image');
  return {
    container,
    running: getString(pod, 'status', 'phase') === 'Running' && !stopped,
    ...(ip === '' ? {} : { ip }),
    ...(image === '' ? {} : { image }),
  };
}
