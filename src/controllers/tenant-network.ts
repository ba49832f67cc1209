// TenantNetwork: gives every Namespace with the label `tenant: 'true'` a NetworkPolicy against traffic from outside and
// a quota. It shows a controller of a built-in kind: it writes no status. A Namespace that loses the label loses both.
import { Namespace, NetworkPolicy, ResourceQuota } from '../kubernetes.ts';

/** The controller. */
export const tenantNetwork = Namespace.controller('tenant-network', {
  selector: { matchLabels: { tenant: 'true' } },
  owns: [NetworkPolicy, ResourceQuota],

  async reconcile({ metadata: { name: namespace } }, { apply }) {
    await apply(NetworkPolicy, {
      metadata: { namespace, name: 'default-deny' },
      spec: { podSelector: {}, policyTypes: ['Ingress'] },
    });
    await apply(ResourceQuota, { metadata: { namespace, name: 'tenant' }, spec: { hard: { pods: '50' } } });
  },
});
