// Bitcoin networks for statements: what a person makes, and what they look at.
import {
  serviceKind,
  serviceName,
  statefulSetKind,
  statefulSetName,
} from '../../src/controllers/bitcoin-network/children.ts';
import { bitcoinNetworkKind as networks } from '../../src/controllers/bitcoin-network/kind.ts';
import { existingKind } from '../../src/core/kind.ts';
import type { System } from './harness.ts';
import { conditionOf } from './user.ts';

type Event = {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
};
const eventKind = existingKind<Event>({ group: '', version: 'v1', kind: 'Event' });

/** Creates what a statement about networks needs. */
export function createBitcoin(system: System) {
  return {
    /** Makes a network, or changes it. */
    network: async (name: string, spec: object = { nodes: 3 }) => await system.apply(networks, name, spec),
    service: async (name: string) => serviceKind.read(await system.read(serviceKind, serviceName(name))),
    set: async (name: string) => statefulSetKind.read(await system.read(statefulSetKind, statefulSetName(name))),
    condition: async (name: string, type: string) => conditionOf(await system.get(networks, name), type),
    /** The Events of a reason, or all, as `count x type reason: message`. */
    events: async (reason?: string) =>
      (await system.list(eventKind))
        .map((raw) => eventKind.read(raw))
        .filter((event) => reason === undefined || event.reason === reason)
        .map((event) => `${event.count} x ${event.type} ${event.reason}: ${event.message}`)
        .sort(),
    /** The requests so far that are not reads. */
    writes: () => system.requests.filter((request) => !request.startsWith('GET')),
  };
}
