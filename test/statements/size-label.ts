// A controller of a built-in kind that only labels: a Deployment gets a label by its number of replicas.
import { Deployment } from '../../src/kubernetes.ts';

/** The controller. */
export const sizeLabel = Deployment.controller('size-label', {
  sets: { labels: ['cost.example.com/size'], annotations: ['cost.example.com/replicas'] },
  async reconcile({ spec }, { setMetadata }) {
    const { replicas = 1 } = spec ?? {};
    await setMetadata({
      labels: { 'cost.example.com/size': replicas === 0 ? undefined : replicas < 5 ? 'small' : 'large' },
      annotations: { 'cost.example.com/replicas': replicas === 0 ? undefined : String(replicas) },
    });
  },
});
