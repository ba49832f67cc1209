// The outside worlds of the sample controllers, and which parameter of the deployment tells a controller where its world
// is: on one machine the worlds run here, on AWS their owners give the address.
import type { KubeObject } from '../../kube/client/object.ts';
import { DevProblem } from '../../dev/explain-error.ts';
import { type BitcoinFault, type BitcoinNodes, bitcoinFaults, createBitcoinNodes } from '../../simulators/bitcoin.ts';
import { type Pantry, type PantryFaults, startPantry } from './pantry.ts';
import { type Plant, type PlantFaults, startPlant } from '../../simulators/plant.ts';

/** The worlds that run. */
export type SampleWorlds = {
  readonly plant: Plant;
  readonly pantry: Pantry;
  /** What runs in pods on the embedded API server; the pods of a cluster of one's own run there. */
  readonly bitcoin: BitcoinNodes;
};

/** The template's parameter for each world's address. */
export const worldParameters = { plant: 'PlantUrl', pantry: 'PantryUrl' } as const;

/** On a sample tank: the level that the plant begins with, as if there had been rain. No controller reads it. */
const pourAnnotation = 'plant.example.com/pour';

/** Starts the worlds on free ports. What was started is put on `parts`. */
export async function startWorlds(parts: AsyncDisposableStack): Promise<SampleWorlds> {
  const plant = await startPlant();
  parts.defer(() => plant.close());
  const pantry = await startPantry();
  parts.defer(() => pantry.close());
  return { plant, pantry, bitcoin: createBitcoinNodes() };
}

/** Pours water into the tanks whose objects say so. */
export function pour({ plant }: Pick<SampleWorlds, 'plant'>, objects: readonly KubeObject[]): void {
  for (const { metadata } of objects) {
    const level = Number(metadata.annotations?.[pourAnnotation]);
    if (metadata.uid !== undefined && Number.isFinite(level)) plant.disturb(metadata.uid, level);
  }
}

const plantFaults = [
  'down',
  'sensor-error',
  'sensor-text',
  'sensor-out-of-range',
  'sensor-hang',
  'valve-error',
] as const;
const itemFaults = ['error', 'hang', 'out-of-stock'] as const;

/**
 * Breaks a world as `--world-fault` says it: `plant=down`, `plant=sensor-error`, `pantry=down`, `pantry=saffron:error`,
 * `bitcoin=hang`, `bitcoin=NAMESPACE/POD:warming-up` (the namespace may be left out: `default`).
 * Throws DevProblem, saying what there is, for anything else.
 */
export function breakWorlds({ plant, pantry, bitcoin }: SampleWorlds, faults: readonly string[]): void {
  const brokenNodes: (readonly [string, BitcoinFault])[] = [];
  const broken: { plant: PlantFaults; pantry: PantryFaults } = { plant: {}, pantry: {} };
  for (const fault of faults) {
    const [world = '', what = ''] = fault.split('=');
    const [item = '', how = ''] = what.split(':');
    const plantFault = plantFaults.find((one) => one === what);
    const itemFault = itemFaults.find((one) => one === how);
    const nodeFault = bitcoinFaults.find((one) => one === (how === '' ? what : how));
    if (world === 'plant' && plantFault !== undefined) broken.plant = { '*': plantFault };
    else if (world === 'pantry' && what === 'down') broken.pantry = { ...broken.pantry, down: true };
    else if (world === 'pantry' && item !== '' && itemFault !== undefined) {
      broken.pantry = { ...broken.pantry, items: { ...broken.pantry.items, [item]: itemFault } };
    } else if (world === 'bitcoin' && nodeFault !== undefined) {
      brokenNodes.push([how === '' ? '*' : item, nodeFault]);
    } else {
      const known = `${plantFaults.map((one) => `plant=${one}`).join(', ')}, pantry=down, pantry=ITEM:${itemFaults.join('|')}, bitcoin=[NAMESPACE/POD:]${bitcoinFaults.join('|')}`;
      throw new DevProblem(`--world-fault ${fault}: not known; there are ${known}`);
    }
  }
  plant.setFaults(broken.plant);
  pantry.setFaults(broken.pantry);
  for (const [pod, fault] of brokenNodes) {
    const [name = '', namespace = 'default'] = pod.split('/').toReversed();
    bitcoin.fail(pod === '*' ? pod : { namespace, name }, fault);
  }
}
