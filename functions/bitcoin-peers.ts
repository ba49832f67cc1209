import { bitcoinPeers } from '../src/controllers/bitcoin-network/bitcoin-peers.ts';
import { createReconcileHandler } from '../src/lambda/reconcile-handler.ts';

export const handler = createReconcileHandler(bitcoinPeers);
