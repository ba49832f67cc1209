// Every controller of this service, and the kinds that have none. What `generate` writes, what resync lists and what
// one machine runs comes from here.

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

/** Kinds that are only defined: validated and stored by the API server, and looked at by no controller. */
export const crdsOnly: readonly AnyCustomKind[] = [Book];
