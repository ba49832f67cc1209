// The object of a dead letter whose finalize was not completed: nothing else is left of it, and an operator needs it to
// clean up what it has outside of the cluster.
import type { KubeObject, ResourceName } from '../kube/client/object.ts';
import { jsonForSqs } from '../sqs/body.ts';

/** SQS accepts 256 KiB in one batch, and the message has a body and other attributes too. */
const maxBytes = 200 * 1024;
/** A copy of the whole object, which may be a Secret. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Returns an object as JSON for a dead letter, at most 200 KiB. Spec and status are kept as they were read. Left out
 * are the managed fields, kubectl's copy of the object, and the data of a Secret. If the object is too large, its
 * status is left out, and then everything but its identity, labels and owners.
 */
export function formatOrphan(resource: ResourceName, object: KubeObject): string {
  const { managedFields: _, annotations, ...metadata } = object.metadata;
  const kept = Object.entries(annotations ?? {}).filter(([name]) => name !== lastApplied);
  const whole = {
    ...object,
    metadata: { ...metadata, ...(kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) }) },
  };
  const { status: __, ...withoutStatus } = isSecret(resource) ? withoutData(whole) : whole;
  const { apiVersion, kind } = object;
  const { name, namespace, uid, creationTimestamp, labels, ownerReferences } = metadata;
  const identity = { apiVersion, kind, metadata: { name, namespace, uid, creationTimestamp } };
  const candidates = [
    isSecret(resource) ? withoutData(whole) : whole,
    withoutStatus,
    { ...identity, metadata: { ...identity.metadata, labels, ownerReferences } },
  ];
  const texts = [...candidates, identity].map(jsonForSqs);
  return texts.find((text) => Buffer.byteLength(text) <= maxBytes) ?? '';
}

function isSecret({ group, plural }: ResourceName): boolean {
  return group === '' && plural === 'secrets';
}

function withoutData(object: KubeObject): KubeObject {
  const { data: _, stringData: __, ...rest } = object;
  return rest;
}
