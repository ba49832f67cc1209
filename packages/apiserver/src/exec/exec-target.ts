// Finds the container of a pod that a command runs in. The checks are those of kube-apiserver in its order, then those
// of the kubelet. Sources: pkg/registry/core/pod/strategy.go (streamLocation) and pkg/kubelet/kubelet_pods.go
// (GetExec).
import { isList, isObject, type JsonObject } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { badRequest } from '../status-error.ts';

/** A container, with the address and the image that the pod states. */
export type ExecTarget = {
  readonly container: string;
  /** False: the container has no process, and the kubelet responds with 500. */
  readonly running: boolean;
  readonly ip?: string;
  readonly image?: string;
};

/** Returns the container that `requested` names, or the only container for ''. Throws StatusErrors: 400. */
export function execTarget(pod: ApiObject, requested: string): ExecTarget {
  const name = pod.metadata.name ?? '';
  const spec = mapOf(pod.spec);
  const status = mapOf(pod.status);
  const containers = objectsOf(spec.containers);
  const names = containers.map((one) => textOf(one.name) ?? '');
  if (requested === '' && names.length !== 1) {
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`);
  }
  const container = requested === '' ? (names[0] ?? '') : requested;
  const found = containers.find((one) => one.name === container);
  if (found === undefined) throw badRequest(`container ${container} is not valid for pod ${name}`);
  const ip = textOf(status.podIP);
  // The workload simulator does not bind pods to nodes. A pod with an address counts as scheduled.
  if ((textOf(spec.nodeName) ?? textOf(status.hostIP) ?? ip) === undefined) {
    throw badRequest(`pod ${name} does not have a host assigned`);
  }
  const reported = objectsOf(status.containerStatuses).find((one) => one.name === container);
  const stopped =
    reported !== undefined && isObject(reported.state ?? null) && mapOf(reported.state).running === undefined;
  const image = textOf(found.image);
  return {
    container,
    running: status.phase === 'Running' && !stopped,
    ...(ip === undefined ? {} : { ip }),
    ...(image === undefined ? {} : { image }),
  };
}

function mapOf(value: JsonObject[string] | undefined): JsonObject {
  return value !== undefined && isObject(value) ? value : {};
}

function objectsOf(value: JsonObject[string] | undefined): readonly JsonObject[] {
  return value !== undefined && isList(value) ? value.filter(isObject) : [];
}

function textOf(value: JsonObject[string] | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
