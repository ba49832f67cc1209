// The simulators of the external systems that the sample controllers use, and the deployment parameters that hold their
// addresses. On one machine the simulators run in this process; on AWS the operator of the external system provides the
// address.

import type { AllowedHosts } from '@outrigger/common/http/foreign-request';
import { UserError } from 'outrigger/internal/core/errors';
import type { KubeObject } from 'outrigger/internal/kube/client/object';
import { type BitcoinFault, type BitcoinNodes, bitcoinFaults, createBitcoinNodes } from './bitcoin.ts';
import { itemFault, type PantryFaults, type PantrySimulator, startPantry } from './pantry.ts';
import { type PlantFaults, type PlantSimulator, plantFault, startPlant } from './plant.ts';

/** The running simulators. */
export type Simulators = {
  readonly plant: PlantSimulator;
  readonly pantry: PantrySimulator;
  /** The nodes in pods on the embedded API server. In any other cluster the pods run real nodes. */
  readonly bitcoin: BitcoinNodes;
};

/** The template's parameter for the address of each simulator. */
export const simulatorParameters = { plant: 'PlantUrl', pantry: 'PantryUrl' } as const;

/** Annotation of a sample tank: the level that the plant starts with. No controller reads it. */
const pourAnnotation = 'plant.example.com/pour';

/**
 * Somewhat more than the capacity of the sample's tanks, and what their sensor may read: a tank whose reconcile stands
 * at a breakpoint overflows, and is drained afterwards.
 */
const overflowsAt = 120;

/**
 * Starts the simulators on free ports. `cleanup` closes them.
 * @param parameters those of the template: only simulators whose address is one of them listen. Default: all.
 * @param pantryStock the stock of each item, in each unit
 */
export async function startSimulators(
  cleanup: AsyncDisposableStack,
  {
    parameters = Object.values(simulatorParameters),
    pantryStock,
    ...hosts
  }: AllowedHosts & { readonly parameters?: readonly string[]; readonly pantryStock?: number } = {},
): Promise<Simulators> {
  const listens = parameters.includes(simulatorParameters.plant);
  const plant = await startPlant({ ...hosts, listens, overflowsAt });
  cleanup.defer(() => plant.close());
  const pantry = await startPantry({
    ...hosts,
    listens: parameters.includes(simulatorParameters.pantry),
    ...(pantryStock === undefined ? {} : { initialStock: pantryStock }),
  });
  cleanup.defer(() => pantry.close());
  return { plant, pantry, bitcoin: createBitcoinNodes() };
}

/** The addresses of the simulators that listen, by name. */
export function simulatorUrls({
  plant,
  pantry,
}: Pick<Simulators, 'plant' | 'pantry'>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries({ plant: plant.url, pantry: pantry.url }).filter(([, url]) => url !== ''));
}

/** Sets the level of the tanks whose objects have the annotation. */
export function pour({ plant }: Pick<Simulators, 'plant'>, objects: readonly KubeObject[]): void {
  for (const { metadata } of objects) {
    const level = Number(metadata.annotations?.[pourAnnotation]);
    if (metadata.uid !== undefined && Number.isFinite(level)) plant.disturb(metadata.uid, level);
  }
}

/**
 * Sets the faults of `--simulator-fault`: `plant=down`, `plant=sensor-error`, `pantry=down`, `pantry=saffron:error`,
 * `bitcoin=hang`, `bitcoin=NAMESPACE/POD:warming-up` (the namespace defaults to `default`).
 * Throws UserError with the list of known faults for anything else.
 */
export function injectFaults({ plant, pantry, bitcoin }: Simulators, faults: readonly string[]): void {
  const nodeFaults: (readonly [string, BitcoinFault])[] = [];
  const activeFaults: { plant: PlantFaults; pantry: PantryFaults } = { plant: {}, pantry: {} };
  for (const fault of faults) {
    const [simulator = '', what = ''] = fault.split('=');
    const [item = '', how = ''] = what.split(':');
    const ofPlant = plantFault.options.find((one) => one === what);
    const ofItem = itemFault.options.find((one) => one === how);
    const nodeFault = bitcoinFaults.find((one) => one === (how === '' ? what : how));
    if ((simulator === 'plant' && plant.url === '') || (simulator === 'pantry' && pantry.url === ''))
      throw new UserError(`--simulator-fault ${fault}: no controller of this project uses the ${simulator}`);
    if (simulator === 'plant' && ofPlant !== undefined) activeFaults.plant = { '*': ofPlant };
    else if (simulator === 'pantry' && what === 'down') activeFaults.pantry = { ...activeFaults.pantry, down: true };
    else if (simulator === 'pantry' && item !== '' && ofItem !== undefined) {
      activeFaults.pantry = { ...activeFaults.pantry, items: { ...activeFaults.pantry.items, [item]: ofItem } };
    } else if (simulator === 'bitcoin' && nodeFault !== undefined) {
      nodeFaults.push([how === '' ? '*' : item, nodeFault]);
    } else {
      const known = [
        ...plantFault.options.map((one) => `plant=${one}`),
        'pantry=down',
        `pantry=ITEM:${itemFault.options.join('|')}`,
        `bitcoin=[NAMESPACE/POD:]${bitcoinFaults.join('|')}`,
      ].join(', ');
      throw new UserError(`--simulator-fault ${fault}: unknown fault; known faults are ${known}`);
    }
  }
  plant.setFaults(activeFaults.plant);
  pantry.setFaults(activeFaults.pantry);
  for (const [pod, fault] of nodeFaults) {
    const [name = '', namespace = 'default'] = pod.split('/').toReversed();
    bitcoin.fail(pod === '*' ? pod : { namespace, name }, fault);
  }
}
