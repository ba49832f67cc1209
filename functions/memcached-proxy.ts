// Generated from the registry by npm run generate. Without this line the file is yours, and generate leaves it alone.
import { memcachedProxy } from '../src/controllers/memcached-proxy.ts';
import { createReconcileHandler } from '../src/lambda/reconcile-handler.ts';

export const handler = createReconcileHandler(memcachedProxy);
