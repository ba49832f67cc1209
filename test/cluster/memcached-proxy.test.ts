// MemcachedProxy on the real kube-apiserver, with the real controllers of Kubernetes: its schema, and its Deployments,
// ReplicaSets, EndpointSlices and garbage collection.
import { inject } from 'vitest';
import '../../tools/control-plane/global-setup.ts';
import { memcachedProxyWorkloadCases } from '../statements/memcached-proxy-workload-cases.ts';

const { url, ca, adminToken } = inject('controlPlane');
const connect = () => ({ server: new URL(url), ca, token: async () => adminToken });

memcachedProxyWorkloadCases(connect);
