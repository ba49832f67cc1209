// Generated from the registry by npm run generate. Without this line the file is yours, and generate leaves it alone.
import { bitcoinPeers } from '../src/controllers/bitcoin-peers.ts';
import { createReconcileHandler } from '../src/lambda/reconcile-handler.ts';

export const handler = createReconcileHandler(bitcoinPeers);
