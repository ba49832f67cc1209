// Foo: has one Deployment of nginx, as kubernetes/sample-controller has it. It shows how a controller owns a built-in kind: it says
// the fields that it means and no others, believes the Deployment's status only where that is of its present spec, and leaves
// alone what has the right name but is not its own.
//
// A user writes spec. This controller alone writes status, and owns one Deployment; the one of a former name goes.
import type { V1Deployment } from '@kubernetes/client-node';
import * as z from 'zod';
import { settleChildren } from '../core/aggregate.ts';
import { availabilityOf, isCurrent } from '../core/availability.ts';
import { defineController } from '../core/controller.ts';
import { existingKind } from '../core/kind.ts';
import { defineResource } from '../core/resource.ts';

/** The longest value of a label: a Foo's name is one on its pods. */
const maxNameLength = 63;
const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** The kind. */
export const fooKind = defineResource({
  group: 'samples.example.com',
  version: 'v1',
  kind: 'Foo',
  spec: z.object({
    deploymentName: z.string().min(1).max(maxNameLength).regex(dnsLabel).describe('Names the Deployment.'),
    replicas: z.number().int().min(1).max(10).optional().describe('Left out, it is for others to scale.'),
  }),
  status: z.object({
    availableReplicas: z.number().int().optional().describe('As its Deployment last said of its present spec.'),
  }),
  conditions: ['DeploymentAvailable'],
  columns: { Deployment: '.spec.deploymentName', Available: '.status.availableReplicas' },
  nameRule: {
    rule: `size(self.metadata.name) <= ${maxNameLength}`,
    message: `a name has at most ${maxNameLength} characters, because its pods are labelled with it`,
  },
});

/** The built-in kind, as Kubernetes' own client describes it. */
export const deploymentKind = existingKind<V1Deployment>({ group: 'apps', version: 'v1', kind: 'Deployment' });

/** Reasons of a Deployment that could not be made as it should be. */
const refusals = ['NotOwned', 'ChildRefused'];

/** The controller. */
export const foo = defineController(fooKind)({
  name: 'foo',
  owns: [deploymentKind],

  async reconcile({ metadata, spec, status, conditions }, { children, record }) {
    const { deploymentName: name, replicas } = spec;
    const labels = { app: 'nginx', controller: metadata.name };
    const { live, problem } = await settleChildren(
      deploymentKind,
      children(deploymentKind, [
        {
          metadata: { name },
          spec: {
            // What is not said is not ours: without replicas, whoever scales the Deployment is not in our way.
            ...(replicas === undefined ? {} : { replicas }),
            selector: { matchLabels: labels },
            template: { metadata: { labels }, spec: { containers: [{ name: 'nginx', image: 'nginx:latest' }] } },
          },
        },
      ]),
    );

    // An Event says what is new: a Deployment that is as this generation has it, or a name that has turned out to be taken.
    const said = conditions?.find(({ type }) => type === 'DeploymentAvailable');
    const before = said?.observedGeneration === metadata.generation ? said.reason : undefined;
    if (problem !== undefined) {
      const { condition, error } = problem;
      if (condition.reason === 'NotOwned' && before !== 'NotOwned') {
        record('Warning', 'ErrResourceExists', `Resource "${name}" already exists and is not managed by Foo`);
      }
      return { status: status ?? {}, conditions: { DeploymentAvailable: condition }, retry: error };
    }
    if (before === undefined || refusals.includes(before)) record('Normal', 'Synced', 'Foo synced successfully');

    const [deployment] = live ?? [];
    const { availableReplicas = 0 } = deployment?.status ?? {};
    return {
      status: isCurrent(deployment) ? { availableReplicas } : (status ?? {}),
      conditions: { DeploymentAvailable: availabilityOf(deployment) },
    };
  },
});
