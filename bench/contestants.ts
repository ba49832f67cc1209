// All contestants, Outrigger first.
import { ours } from './ours/ours.ts';
import { bareNode } from './peers/bare-node.ts';
import { clientNode } from './peers/client-node.ts';
import type { Contestant } from './peers/contestant.ts';
import { controllerRuntime } from './peers/controller-runtime.ts';
import { kopf } from './peers/kopf.ts';
import { pepr } from './peers/pepr.ts';
import { sampleController } from './peers/sample-controller.ts';

/** Outrigger with another SQS server, to show how much the first one affects the result. */
const onElasticMq: Contestant = { ...ours('elasticmq'), settings: ['default'] };
/** The peers of this bench. */
const peers: readonly Contestant[] = [
  onElasticMq,
  controllerRuntime,
  sampleController,
  kopf,
  pepr,
  clientNode,
  bareNode,
];

/**
 * Returns the list. Outrigger has its deployed settings, and its best ones if they differ. With `only`, only peers
 * whose names have one of these prefixes.
 */
export function contestants({
  best = false,
  only,
}: {
  readonly best?: boolean;
  readonly only?: readonly string[] | undefined;
} = {}): readonly Contestant[] {
  const outrigger = ours('fauxqs');
  const isSelected = ({ name }: Contestant) => only?.some((prefix) => name.startsWith(prefix)) ?? true;
  return [best ? outrigger : { ...outrigger, settings: ['default'] }, ...peers.filter(isSelected)];
}
