// The built-in kinds of this server: those that Outrigger's client, kubectl and the sample controllers use.
import type { BuiltinSchemas } from '../schema/builtins.ts';
import {
  allOf,
  checkConfigMapSize,
  checkEvent,
  checkImmutable,
  checkKeys,
  checkNewEvent,
  checkRequired,
  checkRoleRef,
  checkSecretSize,
  checkSecretType,
  checkSelector,
  checkStatefulSet,
  immutableFields,
} from './builtin-checks.ts';
import {
  admissionPolicySpec,
  createServiceSpec,
  deploymentSpec,
  inSpec,
  prepareBinding,
  prepareEndpointSlice,
  prepareNamespace,
  preparePod,
  prepareSecret,
  replicaSetSpec,
  statefulSetSpec,
} from './builtin-defaults.ts';
import { builtinColumns, plainColumns } from './columns.ts';
import { checkDefinition, definitionNameError, prepareDefinition } from './definition.ts';
import { daemonSetKind, furtherCoreKinds, furtherGroups } from './further-builtins.ts';
import { namespaceNameError, pathSegmentError } from './names.ts';
import type { ApiResource, ResourceDefinition, ScalePaths } from './resource.ts';
import { checkPod, checkService, checkTemplate, checkWorkload } from './workload-checks.ts';

const scalePaths: ScalePaths = {
  specReplicas: ['spec', 'replicas'],
  statusReplicas: ['status', 'replicas'],
  selector: ['spec', 'selector'],
};
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
  check: checkEvent,
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
  check: checkNewEvent,
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
  {
    kind: 'ConfigMap',
    plural: 'configmaps',
    shortNames: ['cm'],
    check: allOf(checkKeys, checkConfigMapSize, checkImmutable),
  },
  {
    kind: 'Secret',
    plural: 'secrets',
    selectable: ['type'],
    prepare: prepareSecret,
    check: allOf(checkKeys, checkSecretSize, checkSecretType, checkImmutable),
  },
  {
    kind: 'Service',
    plural: 'services',
    shortNames: ['svc'],
    categories: ['all'],
    status: true,
    nameError: namespaceNameError,
    selectable: ['spec.clusterIP', 'spec.type'],
    check: allOf(checkService, immutableFields('clusterIP')),
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
    check: checkPod,
    returnsDeleted: true,
  },
  ...furtherCoreKinds,
];

const alwaysTemplate = checkTemplate(['spec', 'template'], ['Always']);

const appsKinds: readonly ResourceDefinition[] = [
  {
    kind: 'Deployment',
    plural: 'deployments',
    shortNames: ['deploy'],
    prepare: inSpec(deploymentSpec, {}),
    check: allOf(checkWorkload('deployment'), immutableFields('selector'), checkSelector, alwaysTemplate),
  },
  {
    kind: 'ReplicaSet',
    plural: 'replicasets',
    shortNames: ['rs'],
    prepare: inSpec(replicaSetSpec, { replicas: 0 }),
    check: allOf(checkWorkload('replicaset'), immutableFields('selector'), checkSelector, alwaysTemplate),
  },
  {
    kind: 'StatefulSet',
    plural: 'statefulsets',
    shortNames: ['sts'],
    prepare: inSpec(statefulSetSpec, { replicas: 0, availableReplicas: 0 }),
    check: allOf(checkWorkload('statefulset'), checkStatefulSet, checkSelector, alwaysTemplate),
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
    kinds: [{ kind: 'EndpointSlice', plural: 'endpointslices', generation: 'content', prepare: prepareEndpointSlice }],
  },
  { group: 'events.k8s.io', schemas: 'io.k8s.api.events.v1', kinds: [newEventKind] },
  { group: 'coordination.k8s.io', schemas: 'io.k8s.api.coordination.v1', kinds: [{ kind: 'Lease', plural: 'leases' }] },
  {
    group: 'rbac.authorization.k8s.io',
    schemas: 'io.k8s.api.rbac.v1',
    kinds: [
      { kind: 'Role', plural: 'roles', ...rbacResource },
      { kind: 'ClusterRole', plural: 'clusterroles', ...rbacResource, ...clusterScoped },
      { kind: 'RoleBinding', plural: 'rolebindings', ...rbacResource, prepare: prepareBinding, check: checkRoleRef },
      {
        kind: 'ClusterRoleBinding',
        plural: 'clusterrolebindings',
        ...rbacResource,
        ...clusterScoped,
        prepare: prepareBinding,
        check: checkRoleRef,
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
        columns: builtinColumns[definition.kind] ?? plainColumns,
        selectable: [],
        needsVersion: false,
        ...definition,
        ...(definition.kind === 'Service' ? { prepare: prepareService } : {}),
        check: (object, old) => [
          ...checkRequired(object, schemas.resolved(schemaName)),
          ...(check?.(object, old) ?? []),
        ],
      };
    }),
  );
}
