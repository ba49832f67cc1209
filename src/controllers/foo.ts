// Foo: has one Deployment of nginx, like kubernetes/sample-controller. It shows how a controller owns a built-in kind:
// it applies only its own fields, uses the Deployment's status only if it is of the current spec, and does not touch a
// Deployment of another owner.
//
// A user writes spec. Only this controller writes status. It owns one Deployment; after a change of the name the former
// one is deleted.
import * as z from 'zod';
import { Deployment } from '../kubernetes.ts';
import { defineKind, deploymentAvailable, isCurrent, type ResultOf } from '../outrigger.ts';

/** The longest value of a label. The name of a Foo is a label of its pods. */
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
    // A set with one child, because the name can change: applyAll then deletes the Deployment of the former name.
    const { objects, failure } = await tryApplyAll(Deployment, [
      {
        metadata: { name },
        spec: {
          // The controller does not own fields that are not given: without replicas, other clients may scale the
          // Deployment.
          ...(replicas === undefined ? {} : { replicas }),
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: { automountServiceAccountToken: false, containers: [{ name: 'nginx', image: 'nginx:latest' }] },
          },
        },
      },
    ]);

    // An Event is recorded for a change only: the Deployment now matches this generation, or its name was found to be
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
