// What a write fills in for built-in kinds besides the defaults of their types: values that are computed.
// default-values.ts has the defaults of types, service-defaults.ts those of Services.
import { jobLabels } from '../checks/job-rules.ts';
import { getList, getMap, isList, type JsonObject, mapObjects, omitFields } from '../json.ts';
import { type ApiObject, withMetadata } from '../object.ts';
import { prepareDefinition } from './definition.ts';

/** Completes the spec of an object. */
export type Defaults = (spec: JsonObject, object: ApiObject, old: ApiObject | undefined) => JsonObject;

/** Returns a `prepare` that completes the spec. */
export function inSpec(complete: Defaults): (object: ApiObject, old: ApiObject | undefined) => ApiObject {
  return (object, old) => ({ ...object, spec: complete(getMap(object, 'spec'), object, old) });
}

/** The spec of a Namespace is its finalizer. */
const namespaceSpec: Defaults = ({ finalizers }, _, old) => ({
  finalizers:
    old === undefined
      ? [...new Set([...(isList(finalizers) ? finalizers : []), 'kubernetes'])]
      : getList(old, 'spec', 'finalizers'),
});

/** Completes a Secret: `stringData` is stored as base64 in `data`. */
function prepareSecret(object: ApiObject): ApiObject {
  const { stringData, ...rest } = object;
  const encoded = Object.entries(getMap({ stringData: stringData ?? {} }, 'stringData')).map(([key, value]) => [
    key,
    Buffer.from(typeof value === 'string' ? value : '').toString('base64'),
  ]);
  const data = { ...getMap(object, 'data'), ...Object.fromEntries(encoded) };
  const { apiVersion, kind, metadata } = object;
  const type = rest.type || 'Opaque';
  return { ...rest, type, apiVersion, kind, metadata, ...(Object.keys(data).length === 0 ? {} : { data }) };
}

/** Completes a Pod: its containers request what they are limited to. A new Pod is Pending. */
function preparePod(object: ApiObject, old: ApiObject | undefined): ApiObject {
  const spec = getMap(object, 'spec');
  const requesting = ['initContainers', 'containers'].flatMap((field) => {
    const containers = getList(spec, field).map((one) => {
      const [resources, limits] = [getMap(one, 'resources'), getMap(one, 'resources', 'limits')];
      const requests = { ...limits, ...getMap(resources, 'requests') };
      return Object.keys(limits).length === 0 ? one : { ...getMap(one), resources: { ...resources, requests } };
    });
    return spec[field] === undefined ? [] : [[field, containers] as const];
  });
  const complete = { ...object, spec: { enableServiceLinks: true, ...spec, ...Object.fromEntries(requesting) } };
  return old === undefined ? { ...complete, status: { phase: 'Pending', ...getMap(complete, 'status') } } : complete;
}

/** Defaults of the spec of a ValidatingAdmissionPolicy. */
const admissionPolicySpec: Defaults = (spec) => {
  const constraints = getMap(spec, 'matchConstraints');
  const rules = mapObjects(constraints.resourceRules, (rule) => ({ scope: '*', ...rule }));
  return {
    failurePolicy: 'Fail',
    ...spec,
    ...(spec.matchConstraints === undefined
      ? {}
      : {
          matchConstraints: {
            matchPolicy: 'Equivalent',
            namespaceSelector: {},
            objectSelector: {},
            ...constraints,
            ...(rules.length === 0 ? {} : { resourceRules: rules }),
          },
        }),
  };
};

const uidLabel = 'batch.kubernetes.io/controller-uid';

const jobSpec = (spec: JsonObject, { metadata }: ApiObject, old: ApiObject | undefined): JsonObject => {
  const counted = spec.completions === undefined && spec.parallelism === undefined ? { completions: 1 } : {};
  const manual = spec.manualSelector === true || old !== undefined;
  const given = getMap(spec, 'template');
  const labels = { ...getMap(given, 'metadata', 'labels'), ...jobLabels(metadata) };
  const templated = manual ? given : { ...given, metadata: { ...getMap(given, 'metadata'), labels } };
  const uid = metadata.uid ?? '';
  const selector = getMap(spec, 'selector');
  return {
    parallelism: 1,
    ...counted,
    // With a limit for each index there is none for all.
    backoffLimit: spec.backoffLimitPerIndex === undefined ? 6 : 2_147_483_647,
    completionMode: 'NonIndexed',
    manualSelector: false,
    podReplacementPolicy: spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed',
    suspend: false,
    ...spec,
    ...(manual
      ? {}
      : { selector: { ...selector, matchLabels: { ...getMap(selector, 'matchLabels'), [uidLabel]: uid } } }),
    template: templated,
  };
};

function prepareJob(object: ApiObject, old: ApiObject | undefined): ApiObject {
  const complete = inSpec(jobSpec)(object, old);
  if (old !== undefined || getMap(object, 'spec').manualSelector === true) return complete;
  return withMetadata(complete, { labels: { ...complete.metadata.labels, ...jobLabels(object.metadata) } });
}

/** The source of a claim has an older field and a newer one. Each is filled in from the other. */
const bothSources = (spec: JsonObject): JsonObject => {
  const { dataSourceRef: given, dataSource, ...rest } = spec;
  // A source in another namespace is dropped without its feature gate.
  const dataSourceRef = getMap(given ?? {}).namespace === undefined ? given : undefined;
  const { kind, apiGroup = '' } = getMap(spec, 'dataSource');
  // The older field is dropped if it names neither a claim nor a snapshot.
  const isClaim = kind === 'PersistentVolumeClaim' && apiGroup === '';
  const isKnown = isClaim || (kind === 'VolumeSnapshot' && apiGroup === 'snapshot.storage.k8s.io');
  const source = isKnown || dataSourceRef !== undefined ? (dataSource ?? dataSourceRef) : undefined;
  if (source === undefined) return rest;
  return { ...rest, dataSource: source, dataSourceRef: dataSourceRef ?? source };
};

/** A new node is not ready (the admission plugin TaintNodesByCondition). */
const nodeSpec = (spec: JsonObject, _: ApiObject, old: ApiObject | undefined): JsonObject => {
  if (old !== undefined) return spec;
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  return { ...spec, taints: [...(isList(spec.taints) ? spec.taints : []), taint] };
};

/** What a write fills in, by the kind. */
export const prepares: Readonly<Record<string, ReturnType<typeof inSpec>>> = {
  Namespace: inSpec(namespaceSpec),
  Secret: prepareSecret,
  Pod: preparePod,
  PersistentVolumeClaim: inSpec(bothSources),
  Node: inSpec(nodeSpec),
  // Without the feature gate of their election.
  Lease: inSpec((spec) => omitFields(spec, 'strategy', 'preferredHolder')),
  ValidatingAdmissionPolicy: inSpec(admissionPolicySpec),
  CustomResourceDefinition: prepareDefinition,
  Job: prepareJob,
};
