// Generated from the registry by npm run generate. Without this line the file is yours, and generate leaves it alone.
import { ingredient } from '../src/controllers/ingredient.ts';
import { createReconcileHandler } from '../src/lambda/reconcile-handler.ts';

export const handler = createReconcileHandler(ingredient);
