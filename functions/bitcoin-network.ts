// Generated from the registry by npm run generate. Without this line the file is yours, and generate leaves it alone.
import { bitcoinNetwork } from '../src/controllers/bitcoin-network.ts';
import { createReconcileHandler } from '../src/lambda/reconcile-handler.ts';

export const handler = createReconcileHandler(bitcoinNetwork);
