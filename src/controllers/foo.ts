// Foo: has one Deployment of nginx, as kubernetes/sample-controller has it. It shows how a controller owns a built-in
// kind: it applies only its own fields, uses the Deployment's status only if that is of its
// present spec, and leaves alone what has the right name but is not its own.
//
// A user writes spec. This controller alone writes status, and owns one Deployment; the one of a former name goes.
import * as z from 'zod';
import { Deployment } from '../kubernetes.ts';
import { defineKind, deploymentAvailable, isCurrent, type ResultOf } from '../outrigger.ts';

/** The longest value of a label: a Foo's name is one on its pods. */
const maxNameLength = 63;
const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** The kind. */
export const Foo = defineKind({
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

/** Reasons of a Deployment that could not be applied. */
const refusals = ['NotOwned', 'ChildRefused'];

/** The controller. */
export const foo = Foo.controller('foo', {
  owns: [Deployment],

  async reconcile({ metadata, spec, status, conditions }, { tryApplyAll, recordEvent }): Promise<ResultOf<typeof Foo>> {
    const { deploymentName: name, replicas } = spec;
    const labels = { app: 'nginx', controller: metadata.name };
    // A set of one, because the Deployment's name can change: the one of the former name is deleted.
    const { objects, failure } = await tryApplyAll(Deployment, [
      {
        metadata: { name },
        spec: {
          // Fields that are not given are not ours: without replicas, others may scale the Deployment.
          ...(replicas === undefined ? {} : { replicas }),
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'nginx', image: 'nginx:latest' }] } },
        },
      },
    ]);

    // An Event says what is new: a Deployment that is as this generation has it, or a name that has turned out to be
    // taken.
    const said = conditions?.find(({ type }) => type === 'DeploymentAvailable');
    const before = said?.observedGeneration === metadata.generation ? said.reason : undefined;
    if (failure !== undefined) {
      const { condition, error } = failure;
      if (condition.reason === 'NotOwned' && before !== 'NotOwned') {
        recordEvent('Warning', 'ErrResourceExists', `Resource "${name}" already exists and is not managed by Foo`);
      }
      return { status: status ?? {}, conditions: { DeploymentAvailable: condition }, error };
    }
    if (before === undefined || refusals.includes(before)) recordEvent('Normal', 'Synced', 'Foo synced successfully');

    const [deployment] = objects;
    const { availableReplicas = 0 } = deployment?.status ?? {};
    return {
      status: isCurrent(deployment) ? { availableReplicas } : (status ?? {}),
      conditions: { DeploymentAvailable: deploymentAvailable(deployment) },
    };
  },
});
