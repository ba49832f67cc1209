import { bitcoinNetwork } from '../src/controllers/bitcoin-network/bitcoin-network.ts';
import { createReconcileHandler } from '../src/lambda/reconcile-handler.ts';

export const handler = createReconcileHandler(bitcoinNetwork);
