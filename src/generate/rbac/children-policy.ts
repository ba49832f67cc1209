// RBAC can only allow a controller to write all objects of a kind that it owns: those of others, and pods with every
// privilege of the node. An admission policy limits its identity to its own children, and their pods to what it
// declares in `allows`. Needs Kubernetes 1.30.
//
// What a request does not change is not checked, so that a sidecar that a mesh adds to a child does not lock the
// controller out of it. A container or a volume is unchanged only as a whole: else an image could be replaced in a
// container that another client has made privileged.
import type { Allows } from '../../api/allows.ts';
import type { ControllerDefinition } from '../../api/definition.ts';
import type { Kind } from '../../api/kind.ts';
import type { JsonObject } from '../../core/json.ts';
import { controllerLabel, controllerLabelValue, fieldManagerOf, ownerUidLabel } from '../../core/names.ts';
import { admissionPolicy, type PolicyRules } from './admission-policy.ts';

type Validation = PolicyRules['validations'][number];

const rbac = 'rbac.authorization.k8s.io';
const bindings = ['RoleBinding', 'ClusterRoleBinding'];

/** The path of the pod's spec in each kind that has one, by group and plural. */
const podSpecs: Readonly<Record<string, string>> = {
  '/pods': 'spec',
  '/podtemplates': 'template.spec',
  '/replicationcontrollers': 'spec.template.spec',
  'apps/daemonsets': 'spec.template.spec',
  'apps/deployments': 'spec.template.spec',
  'apps/replicasets': 'spec.template.spec',
  'apps/statefulsets': 'spec.template.spec',
  'batch/jobs': 'spec.template.spec',
  'batch/cronjobs': 'spec.jobTemplate.spec.template.spec',
};

/** Makes the policy and its binding; nothing for a controller that owns no other kind than its own. */
export function childrenPolicy(
  { name, declaration: { resource, owns, allows = {} } }: ControllerDefinition,
  project?: string,
): readonly JsonObject[] {
  const owned = owns.filter(({ group, plural }) => group !== resource.group || plural !== resource.plural);
  if (owned.length === 0) return [];
  const byGroup = Map.groupBy(owned, ({ group }) => group);
  const target = [...byGroup].map(([group, kinds]) => ({
    apiGroups: [group],
    apiVersions: ['*'],
    operations: ['*'],
    resources: [...new Set(kinds.flatMap(({ plural }) => [plural, `${plural}/*`]))],
  }));
  const pods = owned.filter(({ group, plural }) => podSpecs[`${group}/${plural}`] !== undefined);
  const ownsCore = (kind: string) => owned.some(({ group, plural }) => group === '' && plural === kind);
  const label = controllerLabelValue(name, project);
  return admissionPolicy({ controller: name, project }, 'children', {
    target,
    variables: [
      ...ownership(resource, label, fieldManagerOf(name, project), {
        adoption: allows.adoption === true,
        elsewhere: resource.namespaced ? owned.filter(({ inAnyNamespace }) => inAnyNamespace) : [],
      }),
      ...(pods.length === 0 ? [] : podVariables(pods)),
    ],
    validations: [
      { expression: `request.?subResource.orValue('') == ''`, message: `${name} may not use subresources of children` },
      {
        expression:
          `request.?subResource.orValue('') != '' || ` + '(variables.before && variables.after && variables.sameOwner)',
        message:
          `${name} may only write its own children, with the label ${controllerLabel} ` +
          `and a controller reference to a ${resource.kind}`,
      },
      ...(pods.length === 0 ? [] : podRules(name, allows)),
      ...(ownsCore('services') ? serviceRules(name, allows) : []),
      ...(owned.some(({ group, kind }) => group === rbac && bindings.includes(kind))
        ? [bindingRule(name, allows.clusterRoles)]
        : []),
      ...(ownsCore('secrets') && allows.serviceAccountName === undefined ? [tokenRule(name)] : []),
      ...(ownsCore('secrets') || ownsCore('configmaps') ? [userRule(name)] : []),
    ],
  });
}

/**
 * An object that is stored has the controller reference, or has lost it and has the label of its owner and the entry of
 * this controller's applies (hasLostReference); and it has the label of no other controller: one that was removed is
 * put back. An object that will be stored has both; a child of a kind with `inAnyNamespace` may have the label of its
 * owner in place of the reference. No child changes its owner. With `allows.adoption` a write, but no deletion, may
 * also be of an object without a controller.
 */
function ownership(
  { group, kind }: { readonly group: string; readonly kind: string },
  label: string,
  fieldManager: string,
  { adoption, elsewhere }: { readonly adoption: boolean; readonly elsewhere: readonly Kind[] },
): readonly { readonly name: string; readonly expression: string }[] {
  const version = group === '' ? `!r.apiVersion.contains('/')` : `r.apiVersion.startsWith('${group}/')`;
  const controlled = (object: string) =>
    `${object}.metadata.?ownerReferences.orValue([]).exists(r, r.?controller.orValue(false) && ` +
    `r.kind == '${kind}' && ${version})`;
  const labelled = (object: string, withoutLabel: string) =>
    `${object}.metadata.?labels[?'${controllerLabel}'].orValue('${withoutLabel}') == '${label}'`;
  const owners = (object: string) =>
    `${object}.metadata.?ownerReferences.orValue([]).filter(r, r.?controller.orValue(false)).map(r, r.uid)`;
  const ownerLabel = (object: string) => `${object}.metadata.?labels[?'${ownerUidLabel}'].orValue('')`;
  const formerOwner = ownerLabel('oldObject');
  const isFar = elsewhere.map(
    ({ group, kind }) => `(request.kind.group == '${group}' && request.kind.kind == '${kind}')`,
  );
  const far = `(${isFar.join(' || ')}) && ${owners('object')} == [] && ${ownerLabel('object')} != ''`;
  const controlledAfter = isFar.length === 0 ? controlled('object') : `(${controlled('object')} || ${far})`;
  const free = `${owners('oldObject')} == []`;
  const [adopts, adopted] = adoption ? [` || (object != null && ${free})`, ` || ${free}`] : ['', ''];
  const lost =
    `${free} && ${formerOwner} != '' && oldObject.metadata.?managedFields.orValue([])` +
    `.exists(m, m.?manager.orValue('') == '${fieldManager}' && m.?operation.orValue('') == 'Apply')`;
  return [
    { name: 'lost', expression: `oldObject != null && ${lost}` },
    {
      name: 'before',
      expression:
        `oldObject == null || ((${controlled('oldObject')} || variables.lost${adopts}) && ` +
        `${labelled('oldObject', label)})`,
    },
    { name: 'after', expression: `object == null || (${controlledAfter} && ${labelled('object', '')})` },
    {
      name: 'sameOwner',
      expression:
        `oldObject == null || object == null || (${owners('oldObject')} == ${owners('object')} && ` +
        `(${owners('object')} != [] || ${formerOwner} == ${ownerLabel('object')})) || ` +
        `(variables.lost && ${owners('object')} == [${formerOwner}])${adopted}`,
    },
  ];
}

function podVariables(
  kinds: readonly { readonly group: string; readonly plural: string; readonly kind: string }[],
): readonly { readonly name: string; readonly expression: string }[] {
  const podOf = (object: string, part = 'spec') => {
    const choices = kinds.map(({ group, plural, kind }) => {
      const path = (podSpecs[`${group}/${plural}`] ?? '').replace(/spec$/, part).replaceAll('.', '.?');
      return `request.kind.group == '${group}' && request.kind.kind == '${kind}' ? ${object}.?${path}.orValue({}) : `;
    });
    return `${object} == null ? {} : ${choices.join('')}{}`;
  };
  const containersOf = (pod: string) => `${pod}.?containers.orValue([]) + ${pod}.?initContainers.orValue([])`;
  return [
    { name: 'pod', expression: podOf('object') },
    { name: 'oldPod', expression: podOf('oldObject') },
    { name: 'annotations', expression: podOf('object', 'metadata.annotations') },
    { name: 'oldAnnotations', expression: podOf('oldObject', 'metadata.annotations') },
    { name: 'oldContainers', expression: containersOf('variables.oldPod') },
    {
      name: 'containers',
      expression: `(${containersOf('variables.pod')}).filter(c, !(c in variables.oldContainers))`,
    },
    {
      name: 'volumes',
      expression: `variables.pod.?volumes.orValue([]).filter(v, !(v in variables.oldPod.?volumes.orValue([])))`,
    },
  ];
}

/** The former form of `appArmorProfile`, which the API server still turns into the field of a pod. */
const appArmorAnnotation = 'container.apparmor.security.beta.kubernetes.io/';
const defaultVolumes = ['name', 'configMap', 'emptyDir', 'persistentVolumeClaim', 'downwardAPI'];
const hooks = ['livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle.?postStart', 'lifecycle.?preStop'].flatMap(
  (hook) => [`${hook}.?httpGet`, `${hook}.?tcpSocket`],
);
const containerSecurity = [
  ...['runAsUser', 'runAsGroup', 'runAsNonRoot', 'readOnlyRootFilesystem', 'privileged', 'allowPrivilegeEscalation'],
  ...['capabilities', 'procMount', 'seccompProfile', 'appArmorProfile'],
];

function podRules(name: string, allows: Allows): readonly Validation[] {
  const unchanged = (field: string) => `variables.pod.?${field} == variables.oldPod.?${field}`;
  const unset = (field: string, empty: string) =>
    `(variables.pod.?${field}.orValue(${empty}) == ${empty} || ${unchanged(field)})`;
  const account = (field: string) => `(variables.pod.?${field}.orValue('') in ['', 'default'] || ${unchanged(field)})`;
  const profiles = (context: string) =>
    ['seccompProfile', 'appArmorProfile'].map((field) => `${context}.?${field}.?type.orValue('') != 'Unconfined'`);
  const volumes = [...defaultVolumes, ...(allows.secrets ? ['secret'] : []), ...(allows.volumes ?? [])];
  const ofType = `v.all(f, f in ${celList(volumes)})`;
  const noSecret = 'v.?projected.?sources.orValue([]).all(s, !has(s.secret))';
  const mounts = (holds: string) =>
    'c.?volumeMounts.orValue([]).all(m, ' + `variables.pod.?volumes.orValue([]).all(v, v.name != m.name || ${holds}))`;
  const rules: readonly (Validation & { readonly unless?: true | undefined })[] = [
    {
      unless: allows.hostNamespaces,
      // The kubelet sends probes and hooks from the network of its node.
      expression: [
        ...['hostNetwork', 'hostPID', 'hostIPC'].map((field) => unset(field, 'false')),
        `variables.containers.all(c, ${hooks.map((hook) => `c.?${hook}.?host.orValue('') == ''`).join(' && ')})`,
      ].join(' && '),
      message: undeclared(name, 'hostNamespaces'),
    },
    {
      unless: allows.serviceAccountName,
      expression: ['serviceAccountName', 'serviceAccount'].map(account).join(' && '),
      message: undeclared(name, 'serviceAccountName'),
    },
    {
      // Unset, it is true. The service account may turn it off, which a policy does not see.
      unless: allows.serviceAccountName ?? allows.automountServiceAccountToken,
      expression:
        'variables.pod.size() == 0 || !variables.pod.?automountServiceAccountToken.orValue(true) || ' +
        `(oldObject != null && ${unchanged('automountServiceAccountToken')})`,
      message: `${undeclared(name, 'automountServiceAccountToken')}; without it a pod sets the field to false`,
    },
    { unless: allows.nodeName, expression: unset('nodeName', `''`), message: undeclared(name, 'nodeName') },
    {
      unless: allows.priorityClassName,
      expression: unset('priorityClassName', `''`),
      message: undeclared(name, 'priorityClassName'),
    },
    {
      // A volume that another client has added stays, and no container of the controller's mounts it.
      expression: `variables.volumes.all(v, ${ofType}) && variables.containers.all(c, ${mounts(ofType)})`,
      message: `${name} declares no other volumes than ${volumes.slice(1).join(', ')} (allows.volumes)`,
    },
    {
      unless: allows.hostPorts,
      expression: 'variables.containers.all(c, c.?ports.orValue([]).all(p, p.?hostPort.orValue(0) == 0))',
      message: undeclared(name, 'hostPorts'),
    },
    {
      unless: allows.privileged,
      expression:
        `variables.containers.all(c, ${[
          `c.?securityContext.orValue({}).all(f, f in ${celList(containerSecurity)})`,
          '!c.?securityContext.?privileged.orValue(false)',
          '!c.?securityContext.?allowPrivilegeEscalation.orValue(false)',
          'c.?securityContext.?capabilities.?add.orValue([]).size() == 0',
          `c.?securityContext.?procMount.orValue('Default') == 'Default'`,
          ...profiles('c.?securityContext'),
        ].join(' && ')}) && (${unchanged('securityContext')} || (${[
          'variables.pod.?securityContext.?sysctls.orValue([]).size() == 0',
          '!variables.pod.?securityContext.?seLinuxOptions.hasValue()',
          '!variables.pod.?securityContext.?windowsOptions.?hostProcess.orValue(false)',
          ...profiles('variables.pod.?securityContext'),
        ].join(' && ')})) && variables.annotations.all(a, !a.startsWith('${appArmorAnnotation}') || ` +
        `variables.annotations[a] == 'runtime/default' || variables.annotations[a].startsWith('localhost/') || ` +
        '(a in variables.oldAnnotations && variables.oldAnnotations[a] == variables.annotations[a]))',
      message: undeclared(name, 'privileged'),
    },
    {
      unless: allows.secrets,
      expression:
        'variables.containers.all(c, c.?envFrom.orValue([]).all(e, !has(e.secretRef)) && ' +
        'c.?env.orValue([]).all(e, !has(e.valueFrom) || !has(e.valueFrom.secretKeyRef)) && ' +
        `${mounts(noSecret)}) && variables.volumes.all(v, ${noSecret})`,
      message: undeclared(name, 'secrets'),
    },
  ];
  return rules.filter(({ unless }) => !unless).map(({ expression, message }) => ({ expression, message }));
}

function serviceRules(name: string, { serviceTypes = [], externalIPs }: Allows): readonly Validation[] {
  const service = `request.kind.group != '' || request.kind.kind != 'Service' || object == null`;
  const same = (field: string) => `(oldObject != null && object.spec.?${field} == oldObject.spec.?${field})`;
  const type = `object.spec.?type.orValue('ClusterIP') in ${celList(['ClusterIP', ...serviceTypes])}`;
  const addresses = 'object.spec.?externalIPs.orValue([]).size() == 0';
  return [
    { expression: `${service} || ${type} || ${same('type')}`, message: undeclared(name, 'serviceTypes') },
    ...(externalIPs
      ? []
      : [
          {
            expression: `${service} || ${addresses} || ${same('externalIPs')}`,
            message: undeclared(name, 'externalIPs'),
          },
        ]),
  ];
}

/** The API server's token controller puts a token of the named account into a Secret of this type. */
function tokenRule(name: string): Validation {
  return {
    expression:
      `request.kind.group != '' || request.kind.kind != 'Secret' || object == null || ` +
      `object.?type.orValue('Opaque') != 'kubernetes.io/service-account-token'`,
    message: undeclared(name, 'serviceAccountName'),
  };
}

/** Tokens with which nodes join, and the users of an EKS cluster. No `allows` permits them. */
function userRule(name: string): Validation {
  const token = `request.kind.kind == 'Secret' && object.?type.orValue('') == 'bootstrap.kubernetes.io/token'`;
  const users =
    `request.kind.kind == 'ConfigMap' && object.metadata.namespace == 'kube-system' && ` +
    `object.metadata.name == 'aws-auth'`;
  return {
    expression: `request.kind.group != '' || object == null || !(${token} || ${users})`,
    message: `${name} may not make a user of the cluster`,
  };
}

/** The role of a binding is immutable. */
function bindingRule(name: string, clusterRoles: readonly string[] = []): Validation {
  return {
    expression:
      `request.kind.group != '${rbac}' || !(request.kind.kind in ${celList(bindings)}) || object == null || ` +
      `oldObject != null || object.roleRef.kind != 'ClusterRole' || object.roleRef.name in ${celList(clusterRoles)}`,
    message: undeclared(name, 'clusterRoles'),
  };
}

function undeclared(name: string, privilege: keyof Allows): string {
  return `${name} does not declare allows.${privilege}`;
}

function celList(words: readonly string[]): string {
  return `[${words.map((word) => `'${word}'`).join(', ')}]`;
}
