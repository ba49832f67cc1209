// Every controller of this service. What `generate` writes, what resync lists and what one machine runs comes from here.
import type { Registered } from '../core/controller.ts';
import { dinner } from './dinner.ts';
import { ingredient } from './ingredient.ts';
import { memcachedProxy } from './memcached-proxy/memcached-proxy.ts';
import { waterTank } from './water-tank.ts';

/** The controllers, in the order in which they are shown. */
export const registry: readonly Registered[] = [waterTank, ingredient, dinner, memcachedProxy];
