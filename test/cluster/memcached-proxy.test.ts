// MemcachedProxy on the real kube-apiserver, beside the real controllers of Kubernetes: what its schema refuses, and what
// Deployments, ReplicaSets, EndpointSlices and the garbage collector make of it.
import { inject } from 'vitest';
import '../../tools/control-plane/global-setup.ts';
import { memcachedProxyWorkloadCases } from '../statements/memcached-proxy-workload-cases.ts';

const { url, ca, adminToken } = inject('controlPlane');
const connect = () => ({ server: new URL(url), ca, token: async () => adminToken });

memcachedProxyWorkloadCases(connect);
