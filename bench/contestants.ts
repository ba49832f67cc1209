// Everybody who competes, ours first.
import { ours } from './ours/ours.ts';
import { bareNode } from './peers/bare-node.ts';
import { clientNode } from './peers/client-node.ts';
import type { Contestant } from '../test/bench/peers/contestant.ts';
import { controllerRuntime } from './peers/controller-runtime.ts';
import { kopf } from './peers/kopf.ts';
import { pepr } from './peers/pepr.ts';
import { sampleController } from './peers/sample-controller.ts';

/** Ours by way of another server that speaks SQS, so that nobody measures the first one. */
const elsewhere: Contestant = { ...ours('elasticmq'), settings: ['default'] };
/** The peers of this bench. */
const peers: readonly Contestant[] = [elsewhere, controllerRuntime, sampleController, kopf, pepr, clientNode, bareNode];

/**
 * Makes the list. Ours stands there as it is deployed; at its best as well where that is another one. With `only`, of the peers those whose
 * names begin so.
 */
export function contestants({
  best = false,
  only,
}: {
  readonly best?: boolean;
  readonly only?: readonly string[] | undefined;
} = {}): readonly Contestant[] {
  const us = ours('fauxqs');
  const isWanted = ({ name }: Contestant) => only?.some((beginning) => name.startsWith(beginning)) ?? true;
  return [best ? us : { ...us, settings: ['default'] }, ...peers.filter(isWanted)];
}
