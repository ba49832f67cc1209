// Converts pods to the nodes of a network. Pure. Only the controller reference of a pod counts. Its name and labels do
// not, because any user can set them.
import { isIP } from 'node:net';
import type { V1Pod, V1StatefulSet } from '@kubernetes/client-node';
import { controllerUidOf, type Live } from '../../outrigger.ts';
import { serviceName, statefulSetName } from './children.ts';
import type { NetworkNode } from './kind.ts';

/** The network, and its desired number of nodes. */
type Network = { readonly name: string; readonly uid: string; readonly nodes: number };

/**
 * Lists a network's nodes in the order of their ordinals: pods of its own StatefulSet. Pods above the desired number
 * are being removed, and are not listed.
 */
export function nodesOf(
  { name, uid, nodes }: Network,
  set: Live<V1StatefulSet> | undefined,
  pods: readonly Live<V1Pod>[],
): NetworkNode[] {
  const setUid = set?.metadata.uid;
  if (setUid === undefined || controllerUidOf(set) !== uid) return [];
  const ours = new Map(pods.filter((pod) => controllerUidOf(pod) === setUid).map((pod) => [pod.metadata.name, pod]));
  return Array.from({ length: nodes }, (_, ordinal) => ordinal).flatMap((ordinal) => {
    const nodeName = `${statefulSetName(name)}-${ordinal}`;
    const pod = ours.get(nodeName);
    if (pod === undefined) return [];
    const dnsName = `${nodeName}.${serviceName(name)}`;
    return [{ ordinal, ready: isReady(pod), ip: pod.status?.podIP ?? '', nodeName, dnsName }];
  });
}

/** Returns whether a node may be connected with the others: it is ready, and its address is valid. */
export function hasUsableAddress({ ready, ip }: NetworkNode): boolean {
  return ready && isIP(ip) !== 0;
}

/** A pod that is being deleted may still have the condition Ready. */
function isReady({ metadata, status }: Live<V1Pod>): boolean {
  const isSaid = status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true;
  return isSaid && metadata.deletionTimestamp === undefined;
}
