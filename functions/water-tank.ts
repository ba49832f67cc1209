import { waterTank } from '../src/controllers/water-tank.ts';
import { createReconcileHandler } from '../src/lambda/reconcile-handler.ts';

export const handler = createReconcileHandler(waterTank);
