// The built-in kinds this server serves: what our own client, kubectl and the sample controllers use, and nothing more.
import type { BuiltinSchemas } from '../../local/api-server/schema/builtins.ts';
import {
  allOf,
  checkImmutable,
  checkKeys,
  checkRequired,
  checkRoleRef,
  checkSelector,
  checkStatefulSet,
  fixedInSpec,
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
import { builtinColumns, PLAIN } from './columns.ts';
import { checkDefinition, definitionNameProblem, prepareDefinition } from './definition.ts';
import { EVENT, NEW_EVENT } from '../../local/api-server/registry/event-kinds.ts';
import { labelProblem, namespaceNameProblem, pathSegmentProblem } from '../../local/api-server/registry/names.ts';
import type { Described, Resource, ScalePaths } from './resource.ts';

const SCALE: ScalePaths = {
  specReplicas: ['spec', 'replicas'],
  statusReplicas: ['status', 'replicas'],
  selector: ['spec', 'selector'],
};
const CLUSTER = { namespaced: false };
const RBAC = { nameProblem: pathSegmentProblem };

const CORE: readonly Described[] = [
  {
    kind: 'Namespace',
    plural: 'namespaces',
    shortNames: ['ns'],
    ...CLUSTER,
    status: true,
    nameProblem: namespaceNameProblem,
    prepare: prepareNamespace,
    returnsDeleted: true,
  },
  { kind: 'ConfigMap', plural: 'configmaps', shortNames: ['cm'], check: allOf(checkKeys, checkImmutable) },
  {
    kind: 'Secret',
    plural: 'secrets',
    selectable: ['type'],
    prepare: prepareSecret,
    check: allOf(checkKeys, checkImmutable),
  },
  {
    kind: 'Service',
    plural: 'services',
    shortNames: ['svc'],
    categories: ['all'],
    status: true,
    nameProblem: labelProblem,
    check: fixedInSpec('clusterIP'),
    returnsDeleted: true,
  },
  { kind: 'ServiceAccount', plural: 'serviceaccounts', shortNames: ['sa'], returnsDeleted: true },
  EVENT,
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
    returnsDeleted: true,
  },
];

const APPS: readonly Described[] = [
  {
    kind: 'Deployment',
    plural: 'deployments',
    shortNames: ['deploy'],
    prepare: inSpec(deploymentSpec, {}),
    check: allOf(fixedInSpec('selector'), checkSelector),
  },
  {
    kind: 'ReplicaSet',
    plural: 'replicasets',
    shortNames: ['rs'],
    prepare: inSpec(replicaSetSpec, { replicas: 0 }),
    check: allOf(fixedInSpec('selector'), checkSelector),
  },
  {
    kind: 'StatefulSet',
    plural: 'statefulsets',
    shortNames: ['sts'],
    prepare: inSpec(statefulSetSpec, { replicas: 0, availableReplicas: 0 }),
    check: allOf(checkStatefulSet, checkSelector),
  },
].map((described) => ({
  ...described,
  categories: ['all'],
  status: true,
  // A Deployment's annotations are copied to its ReplicaSets, so they count as a change of what is wanted.
  generation: described.kind === 'Deployment' ? 'spec-and-annotations' : 'spec',
  scale: SCALE,
}));

const GROUPS: readonly { readonly group: string; readonly schemas: string; readonly kinds: readonly Described[] }[] = [
  { group: '', schemas: 'io.k8s.api.core.v1', kinds: CORE },
  { group: 'apps', schemas: 'io.k8s.api.apps.v1', kinds: APPS },
  {
    group: 'discovery.k8s.io',
    schemas: 'io.k8s.api.discovery.v1',
    kinds: [{ kind: 'EndpointSlice', plural: 'endpointslices', generation: 'content', prepare: prepareEndpointSlice }],
  },
  { group: 'events.k8s.io', schemas: 'io.k8s.api.events.v1', kinds: [NEW_EVENT] },
  { group: 'coordination.k8s.io', schemas: 'io.k8s.api.coordination.v1', kinds: [{ kind: 'Lease', plural: 'leases' }] },
  {
    group: 'rbac.authorization.k8s.io',
    schemas: 'io.k8s.api.rbac.v1',
    kinds: [
      { kind: 'Role', plural: 'roles', ...RBAC },
      { kind: 'ClusterRole', plural: 'clusterroles', ...RBAC, ...CLUSTER },
      { kind: 'RoleBinding', plural: 'rolebindings', ...RBAC, prepare: prepareBinding, check: checkRoleRef },
      {
        kind: 'ClusterRoleBinding',
        plural: 'clusterrolebindings',
        ...RBAC,
        ...CLUSTER,
        prepare: prepareBinding,
        check: checkRoleRef,
      },
    ],
  },
  {
    // Stored, so that generated manifests can be applied; nothing here enforces them.
    group: 'admissionregistration.k8s.io',
    schemas: 'io.k8s.api.admissionregistration.v1',
    kinds: [
      {
        kind: 'ValidatingAdmissionPolicy',
        plural: 'validatingadmissionpolicies',
        ...CLUSTER,
        status: true,
        prepare: inSpec(admissionPolicySpec, {}),
        generation: 'spec',
      },
      {
        kind: 'ValidatingAdmissionPolicyBinding',
        plural: 'validatingadmissionpolicybindings',
        ...CLUSTER,
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
        ...CLUSTER,
        status: true,
        generation: 'spec',
        nameProblem: definitionNameProblem,
        prepare: prepareDefinition,
        check: checkDefinition,
      },
    ],
  },
];

/** Returns the built-in kinds. */
export function builtinResources(schemas: BuiltinSchemas): Resource[] {
  const prepareService = inSpec(createServiceSpec(), { loadBalancer: {} });
  return GROUPS.flatMap(({ group, schemas: prefix, kinds }) =>
    kinds.map((described): Resource => {
      const schemaName = `${prefix}.${described.kind}`;
      const { check } = described;
      return {
        group,
        version: 'v1',
        listKind: `${described.kind}List`,
        singular: described.kind.toLowerCase(),
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
        columns: builtinColumns[described.kind] ?? PLAIN,
        selectable: [],
        needsVersion: false,
        ...described,
        ...(described.kind === 'Service' ? { prepare: prepareService } : {}),
        check: (object, old) => [
          ...checkRequired(object, schemas.resolved(schemaName)),
          ...(check?.(object, old) ?? []),
        ],
      };
    }),
  );
}
