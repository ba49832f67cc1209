// Generated from the registry by npm run generate. Without this line the file is yours, and generate leaves it alone.
import { createTimersHandler } from '../src/lambda/timers-handler.ts';

export const handler = createTimersHandler([
  'bitcoin-network',
  'bitcoin-peers',
  'dinner',
  'foo',
  'ingredient',
  'memcached-proxy',
  'water-tank',
]);
