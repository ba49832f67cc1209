import { dinner } from '../src/controllers/dinner.ts';
import { createReconcileHandler } from '../src/lambda/reconcile-handler.ts';

export const handler = createReconcileHandler(dinner);
