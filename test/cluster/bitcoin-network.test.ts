// BitcoinNetwork on the real kube-apiserver with its controller manager: garbage collection.
import { inject } from 'vitest';
import '../../tools/control-plane/global-setup.ts';
import { bitcoinNetworkCascadeCases } from '../statements/bitcoin-network-cascade-cases.ts';

const { url, ca, adminToken } = inject('controlPlane');
const connect = () => ({ server: new URL(url), ca, token: async () => adminToken });

bitcoinNetworkCascadeCases(connect);
