import { registry } from '../src/controllers/registry.ts';
import { createResyncHandler } from '../src/lambda/resync-handler.ts';

export const handler = createResyncHandler(registry);
