// Every controller of this service, and the kinds without a controller. `generate`, the resync and `outrigger dev` read
// it.

import type { AnyCustomKind, ControllerDefinition } from '../outrigger.ts';
import { bitcoinNetwork } from './bitcoin-network.ts';
import { bitcoinPeers } from './bitcoin-peers.ts';
import { Book } from './book.ts';
import { dinner } from './dinner.ts';
import { foo } from './foo.ts';
import { ingredient } from './ingredient.ts';
import { memcachedProxy } from './memcached-proxy.ts';
import { waterTank } from './water-tank.ts';

/** The controllers, in the order in which they are shown. */
export const registry: readonly ControllerDefinition[] = [
  waterTank,
  ingredient,
  dinner,
  foo,
  memcachedProxy,
  bitcoinNetwork,
  bitcoinPeers,
];

/** Kinds without a controller: the API server validates and stores them. */
export const crdsOnly: readonly AnyCustomKind[] = [Book];
