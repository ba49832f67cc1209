import { ingredient } from '../src/controllers/ingredient.ts';
import { createReconcileHandler } from '../src/lambda/reconcile-handler.ts';

export const handler = createReconcileHandler(ingredient);
