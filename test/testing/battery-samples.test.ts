// The battery on controllers of built-in kinds. Those of the registry are test/statements/every-controller.test.ts.
import { describe, it } from 'vitest';
import { tenantNetwork } from '../../src/controllers/tenant-network.ts';
import { battery } from '../../src/testing.ts';
import { owned } from '../statements/foreign-conditions.ts';
import { sizeLabel } from '../statements/size-label.ts';

const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'a', image: 'a' }] } };
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: { replicas: 2, selector: { matchLabels: { app: 'a' } }, template },
};

const tenant = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'blue', labels: { tenant: 'true' } } };
const withOwner = {
  ...tenant,
  metadata: { ...tenant.metadata, annotations: { 'team.example.com/owner': 'blue team' } },
};

describe.each([
  // Its children are the same for every Namespace.
  { controller: tenantNetwork, samples: [tenant] },
  { controller: owned, samples: [tenant, withOwner] },
  { controller: sizeLabel, samples: [deployment, { ...deployment, spec: { ...deployment.spec, replicas: 7 } }] },
])('$controller.name', ({ controller, samples }) => {
  for (const { name, run } of battery(controller, { samples })) it(name, run);
});
