// The built-in kinds of this server: those that Outrigger's client, kubectl and the sample controllers use.

import { checkContent } from '../checks/check-content.ts';
import { checkPodUpdate } from '../checks/pod-update.ts';
import { type JsonObject, omitFields } from '../json.ts';
import { isApiObject } from '../object.ts';
import type { BuiltinSchemas } from '../schema/builtins.ts';
import {
  admissionPolicySpec,
  inSpec,
  prepareNamespace,
  preparePod,
  prepareSecret,
  sameSpec,
} from './builtin-defaults.ts';
import { builtinColumns, plainColumns } from './columns.ts';
import { fillTypeDefaults } from './default-values.ts';
import { checkDefinition, definitionNameError, prepareDefinition } from './definition.ts';
import { daemonSetKind, furtherCoreKinds, furtherGroups } from './further-builtins.ts';
import { furtherColumns } from './further-columns.ts';
import { namespaceNameError, pathSegmentError } from './names.ts';
import type { ApiResource, ResourceDefinition, ScalePaths } from './resource.ts';
import { createServiceSpec } from './service-defaults.ts';

const scalePaths: ScalePaths = {
  specReplicas: ['spec', 'replicas'],
  statusReplicas: ['status', 'replicas'],
  selector: ['spec', 'selector'],
};
/** Fields of a Lease that are dropped without the feature gate of their election. */
const withoutElection = (spec: JsonObject): JsonObject => omitFields(spec, 'strategy', 'preferredHolder');
const clusterScoped = { namespaced: false };
const rbacResource = { nameError: pathSegmentError };

/** Events of the core group, which kubectl reads. Events are stored in this form. */
const eventKind: ResourceDefinition = {
  kind: 'Event',
  plural: 'events',
  shortNames: ['ev'],
  selectable: [
    ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map(
      (f) => `involvedObject.${f}`,
    ),
    ...['reason', 'reportingComponent', 'source', 'type'],
  ],
};

/** Events of events.k8s.io/v1: the same objects with other field names. */
const newEventKind: ResourceDefinition = {
  ...eventKind,
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
};

const coreKinds: readonly ResourceDefinition[] = [
  {
    kind: 'Namespace',
    plural: 'namespaces',
    shortNames: ['ns'],
    ...clusterScoped,
    status: true,
    nameError: namespaceNameError,
    selectable: ['status.phase'],
    prepare: prepareNamespace,
    returnsDeleted: true,
  },
  { kind: 'ConfigMap', plural: 'configmaps', shortNames: ['cm'] },
  { kind: 'Secret', plural: 'secrets', selectable: ['type'], prepare: prepareSecret },
  {
    kind: 'Service',
    plural: 'services',
    shortNames: ['svc'],
    categories: ['all'],
    status: true,
    nameError: namespaceNameError,
    selectable: ['spec.clusterIP', 'spec.type'],
    returnsDeleted: true,
  },
  { kind: 'ServiceAccount', plural: 'serviceaccounts', shortNames: ['sa'], returnsDeleted: true },
  eventKind,
  {
    kind: 'Pod',
    plural: 'pods',
    shortNames: ['po'],
    categories: ['all'],
    status: true,
    connects: [{ name: 'exec', kind: 'PodExecOptions' }],
    generation: 'spec',
    selectable: [
      'spec.nodeName',
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      'status.phase',
      'status.podIP',
    ],
    prepare: preparePod,
    check: checkPodUpdate,
    returnsDeleted: true,
  },
  ...furtherCoreKinds,
];

const appsKinds: readonly ResourceDefinition[] = [
  {
    kind: 'Deployment',
    plural: 'deployments',
    shortNames: ['deploy'],
    prepare: inSpec(sameSpec, {}),
  },
  {
    kind: 'ReplicaSet',
    plural: 'replicasets',
    shortNames: ['rs'],
    prepare: inSpec(sameSpec, { replicas: 0 }),
  },
  {
    kind: 'StatefulSet',
    plural: 'statefulsets',
    shortNames: ['sts'],
    prepare: inSpec(sameSpec, { replicas: 0, availableReplicas: 0 }),
  },
].map((definition) => ({
  ...definition,
  categories: ['all'],
  status: true,
  // The annotations of a Deployment are copied to its ReplicaSets, so a change of them raises the generation.
  generation: definition.kind === 'Deployment' ? 'spec-and-annotations' : 'spec',
  scale: scalePaths,
}));

const groupKinds: readonly {
  readonly group: string;
  readonly schemas: string;
  readonly kinds: readonly ResourceDefinition[];
}[] = [
  { group: '', schemas: 'io.k8s.api.core.v1', kinds: coreKinds },
  { group: 'apps', schemas: 'io.k8s.api.apps.v1', kinds: [...appsKinds, daemonSetKind] },
  {
    group: 'discovery.k8s.io',
    schemas: 'io.k8s.api.discovery.v1',
    kinds: [{ kind: 'EndpointSlice', plural: 'endpointslices', generation: 'content' }],
  },
  { group: 'events.k8s.io', schemas: 'io.k8s.api.events.v1', kinds: [newEventKind] },
  {
    group: 'coordination.k8s.io',
    schemas: 'io.k8s.api.coordination.v1',
    kinds: [{ kind: 'Lease', plural: 'leases', needsVersion: true, prepare: inSpec(withoutElection) }],
  },
  {
    group: 'rbac.authorization.k8s.io',
    schemas: 'io.k8s.api.rbac.v1',
    kinds: [
      { kind: 'Role', plural: 'roles', ...rbacResource },
      { kind: 'ClusterRole', plural: 'clusterroles', ...rbacResource, ...clusterScoped },
      { kind: 'RoleBinding', plural: 'rolebindings', ...rbacResource },
      {
        kind: 'ClusterRoleBinding',
        plural: 'clusterrolebindings',
        ...rbacResource,
        ...clusterScoped,
      },
    ],
  },
  {
    // Admission policies are stored, so that generated manifests can be applied. They are not enforced.
    group: 'admissionregistration.k8s.io',
    schemas: 'io.k8s.api.admissionregistration.v1',
    kinds: [
      {
        kind: 'ValidatingAdmissionPolicy',
        plural: 'validatingadmissionpolicies',
        ...clusterScoped,
        status: true,
        prepare: inSpec(admissionPolicySpec, {}),
        generation: 'spec',
      },
      {
        kind: 'ValidatingAdmissionPolicyBinding',
        plural: 'validatingadmissionpolicybindings',
        ...clusterScoped,
        generation: 'spec',
      },
    ],
  },
  {
    group: 'apiextensions.k8s.io',
    schemas: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1',
    kinds: [
      {
        kind: 'CustomResourceDefinition',
        plural: 'customresourcedefinitions',
        shortNames: ['crd', 'crds'],
        categories: ['api-extensions'],
        ...clusterScoped,
        status: true,
        generation: 'spec',
        nameError: definitionNameError,
        prepare: prepareDefinition,
        check: checkDefinition,
      },
    ],
  },
];

/** Returns the built-in kinds. */
export function builtinResources(schemas: BuiltinSchemas): ApiResource[] {
  const prepareService = inSpec(createServiceSpec(), { loadBalancer: {} });
  return [...groupKinds, ...furtherGroups].flatMap(({ group, schemas: prefix, kinds }) =>
    kinds.map((definition): ApiResource => {
      const schemaName = `${prefix}.${definition.kind}`;
      const { check } = definition;
      const prepare = definition.kind === 'Service' ? prepareService : definition.prepare;
      return {
        group,
        version: 'v1',
        listKind: `${definition.kind}List`,
        singular: definition.kind.toLowerCase(),
        shortNames: [],
        categories: [],
        namespaced: true,
        custom: false,
        schemaName,
        get schema() {
          return schemas.resolved(schemaName);
        },
        status: false,
        generation: 'none',
        columns: builtinColumns[definition.kind] ?? furtherColumns[definition.kind] ?? plainColumns,
        selectable: [],
        needsVersion: false,
        ...definition,
        prepare: (object, old) => {
          const schema = schemas.resolved(schemaName);
          const filled = fillTypeDefaults(
            schema.properties?.spec === undefined ? object : { ...object, spec: object.spec ?? {} },
            schema,
          );
          const complete = isApiObject(filled) ? filled : object;
          return prepare?.(complete, old) ?? complete;
        },
        check: (object, old) => [
          ...checkContent(object, old, schemas.resolved(schemaName)),
          ...(check?.(object, old) ?? []),
        ],
      };
    }),
  );
}
