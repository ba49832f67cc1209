import { memcachedProxy } from '../src/controllers/memcached-proxy/memcached-proxy.ts';
import { createReconcileHandler } from '../src/lambda/reconcile-handler.ts';

export const handler = createReconcileHandler(memcachedProxy);
