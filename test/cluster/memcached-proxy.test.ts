// MemcachedProxy on the real kube-apiserver: what its schema refuses.
import { inject } from 'vitest';
import '../control-plane/global-setup.ts';
import { memcachedProxyInputCases } from '../statements/memcached-proxy-input-cases.ts';

const { url, ca, adminToken } = inject('controlPlane');
const connect = () => ({ server: new URL(url), ca, token: async () => adminToken });

memcachedProxyInputCases(connect);
