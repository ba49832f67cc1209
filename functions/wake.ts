// Generated from the registry by npm run generate. Without this line the file is yours, and generate leaves it alone.
import { registry } from '../src/controllers/registry.ts';
import { createWakeHandler } from '../src/lambda/wake-handler.ts';

export const handler = createWakeHandler(registry);
