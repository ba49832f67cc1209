// A provisioner of Namespaces: each one with the label of a team gets a quota, a NetworkPolicy and the team's rights, and
// keeps them whatever the team does to them. `kubectl wait --for=condition=team.example.com/Provisioned namespace/x` waits.
import { ok } from 'outrigger';
import { Namespace, NetworkPolicy, ResourceQuota, RoleBinding } from 'outrigger/kubernetes';

const teamLabel = 'team.example.com/name';
const sizeLabel = 'team.example.com/size';
const quotas = new Map([
  ['small', { pods: '20', 'requests.memory': '8Gi' }],
  ['large', { pods: '200', 'requests.memory': '80Gi' }],
]);

export const namespaceProvisioner = Namespace.statusSlice({
  conditions: ['team.example.com/Provisioned'],
}).controller('namespace-provisioner', {
  selector: {
    matchExpressions: [
      { key: teamLabel, operator: 'Exists' },
      { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['default', 'kube-system', 'kube-public'] },
    ],
  },
  owns: [NetworkPolicy, ResourceQuota, RoleBinding],
  // A team that takes the labels or the owner off one of them does not take it from here.
  allows: { clusterRoles: ['edit'], adoption: true },

  async reconcile({ metadata: { name: namespace, labels = {} } }, { apply }) {
    const { [teamLabel]: team = '', [sizeLabel]: size = 'small' } = labels;
    const hard = quotas.get(size) ?? quotas.get('small') ?? {};
    const metadata = { namespace, name: 'team' };
    // Exact: what others add to the quota or to the rights is removed.
    await apply(ResourceQuota, { metadata, spec: { hard } }, { adopt: true, exact: ['spec.hard'] });
    await apply(
      NetworkPolicy,
      { metadata, spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [{ from: [{ podSelector: {} }] }] } },
      { adopt: true, exact: ['spec.ingress'] },
    );
    await apply(
      RoleBinding,
      {
        metadata,
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: team }],
      },
      { adopt: true, exact: ['subjects'], recreate: true },
    );
    return { conditions: { 'team.example.com/Provisioned': ok('Provisioned', `for ${team}`) } };
  },
});
