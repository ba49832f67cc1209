// Whether a command can run in a pod, and in which container: kube-apiserver's questions in its order, and the kubelet's after
// them. Source: pkg/registry/core/pod/strategy.go (streamLocation) and pkg/kubelet/kubelet_pods.go (GetExec).
import { isList, isObject, type JsonObject } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { badRequest } from '../status-error.ts';

/** A container, and what the pod says of itself. */
export interface ExecTarget {
  readonly container: string;
  /** False: no such process; the kubelet says 500. */
  readonly running: boolean;
  readonly ip?: string;
  readonly image?: string;
}

/** Finds the container; '' asks for the only one. Throws StatusErrors: 400. */
export function execTarget(pod: ApiObject, asked: string): ExecTarget {
  const name = pod.metadata.name ?? '';
  const spec = fieldsOf(pod.spec);
  const status = fieldsOf(pod.status);
  const containers = objectsOf(spec.containers);
  const names = containers.map((one) => textOf(one.name) ?? '');
  if (asked === '' && names.length !== 1) {
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`);
  }
  const container = asked === '' ? (names[0] ?? '') : asked;
  const found = containers.find((one) => one.name === container);
  if (found === undefined) throw badRequest(`container ${container} is not valid for pod ${name}`);
  const ip = textOf(status.podIP);
  // The stand-in for workloads binds no pods; one with an address runs somewhere.
  if ((textOf(spec.nodeName) ?? textOf(status.hostIP) ?? ip) === undefined) {
    throw badRequest(`pod ${name} does not have a host assigned`);
  }
  const said = objectsOf(status.containerStatuses).find((one) => one.name === container);
  const stopped = said !== undefined && isObject(said.state ?? null) && fieldsOf(said.state).running === undefined;
  const image = textOf(found.image);
  return {
    container,
    running: status.phase === 'Running' && !stopped,
    ...(ip === undefined ? {} : { ip }),
    ...(image === undefined ? {} : { image }),
  };
}

function fieldsOf(value: JsonObject[string] | undefined): JsonObject {
  return value !== undefined && isObject(value) ? value : {};
}

function objectsOf(value: JsonObject[string] | undefined): readonly JsonObject[] {
  return value !== undefined && isList(value) ? value.filter(isObject) : [];
}

function textOf(value: JsonObject[string] | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
