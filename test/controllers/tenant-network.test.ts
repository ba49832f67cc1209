// What is generated for controllers of built-in kinds. The life of a Namespace under TenantNetwork is
// test/statements/tenant-network.test.ts.

import { awsOf } from '@outrigger/cli/aws/resources';
import { generatedFiles } from '@outrigger/cli/project/manifests';
import { expect, it } from 'vitest';
import { tenantNetwork } from '../../src/controllers/tenant-network.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import { Deployment } from '../../src/kubernetes.ts';
import { sizeLabel } from '../statements/size-label.ts';

const reporter = Deployment.controller('reporter', { reconcile: async () => undefined });
const files = generatedFiles([tenantNetwork, reporter, sizeLabel]);
const rbac = files.get('rbac.yaml') ?? '';

it('controllers of built-in kinds get no CRD, no permission for a status, and no alarm for missed changes', () => {
  expect([...files.keys()].filter((name) => name.includes('crd-'))).toEqual([]);
  expect(rbac).not.toContain('/status');
  const aws = JSON.stringify(awsOf([tenantNetwork, reporter, sizeLabel]));
  expect(aws).toContain('TenantNetworkLateAlarm');
  expect(aws).not.toContain('MissedChangesAlarm');
});

it('the policy of a controller with a selector lets it change its own label and finalizer only', () => {
  expect(rbac).toContain('key in ["outrigger.dev/managed-by-tenant-network"]');
  expect(rbac).not.toContain('outrigger-reporter-finalizers');
});

it('a controller of Deployments has patch on them only if it declares labels, and a policy for these alone', () => {
  const roleOf = (name: string) =>
    rbac.split('---').find((one) => one.includes(`kind: ClusterRole\n`) && one.includes(`name: outrigger-${name}\n`));
  expect(roleOf('reporter')).toContain('deployments');
  expect(roleOf('reporter')?.split('events')[0]).not.toContain('patch');
  expect(roleOf('size-label')?.split('events')[0]).toContain('patch');
  expect(rbac).toContain('outrigger-size-label-finalizers');
  expect(rbac.replaceAll(/\s+/g, ' ')).toContain(
    'and the label cost.example.com/size and the annotation cost.example.com/replicas',
  );
});

it('the watch of Namespaces has the selector of its only subscriber, and that of Deployments has none', () => {
  const { resources } = watchListOf([tenantNetwork, reporter]);
  const selectorOf = (plural: string) => resources.find((one) => one.plural === plural)?.labelSelector;
  expect([selectorOf('namespaces'), selectorOf('deployments')]).toEqual(['tenant=true', undefined]);
  const all = Deployment.controller('other', {
    selector: { matchLabels: { a: 'b' } },
    reconcile: async () => undefined,
  });
  expect(watchListOf([all, reporter]).resources[0]?.labelSelector).toBeUndefined();
});
