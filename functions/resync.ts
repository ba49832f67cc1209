// Generated from the registry by npm run generate. Without this line the file is yours, and generate leaves it alone.
import { registry } from '../src/controllers/registry.ts';
import { createResyncHandler } from '../src/lambda/resync-handler.ts';

export const handler = createResyncHandler(registry);
