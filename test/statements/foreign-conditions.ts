// Controllers that add a condition to a kind that is not ours: one to Namespaces, which have no generation, and one to
// Deployments, whose other conditions are those of Kubernetes' own controller.
import { Deployment, Namespace } from '../../src/kubernetes.ts';
import { notOk, ok } from '../../src/outrigger.ts';

/** Reports whether a Namespace has an owner, for those that are selected. */
export const owned = Namespace.statusSlice({ conditions: ['team.example.com/Owned'] }).controller('owned', {
  selector: { matchLabels: { tenant: 'true' } },
  async reconcile({ metadata: { annotations = {} } }) {
    const owner = annotations['team.example.com/owner'];
    return { conditions: { 'team.example.com/Owned': owner === undefined ? notOk('NoOwner') : ok('HasOwner', owner) } };
  },
});

/** Reports whether a Deployment survives the loss of a node. */
export const redundant = Deployment.statusSlice({ conditions: ['team.example.com/Redundant'] }).controller(
  'redundant',
  {
    async reconcile({ spec }) {
      const { replicas = 1 } = spec ?? {};
      if (replicas === 13) throw new Error('no luck');
      return { conditions: { 'team.example.com/Redundant': replicas > 1 ? ok('Several') : notOk('Single') } };
    },
  },
);
