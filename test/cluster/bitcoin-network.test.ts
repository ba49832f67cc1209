// BitcoinNetwork on the real kube-apiserver: what its schema refuses, and what the garbage collector takes along.
import { inject } from 'vitest';
import '../control-plane/global-setup.ts';
import { bitcoinNetworkCascadeCases } from '../statements/bitcoin-network-cascade-cases.ts';
import { bitcoinNetworkInputCases } from '../statements/bitcoin-network-input-cases.ts';

const { url, ca, adminToken } = inject('controlPlane');
const connect = () => ({ server: new URL(url), ca, token: async () => adminToken });

bitcoinNetworkInputCases(connect);
bitcoinNetworkCascadeCases(connect);
