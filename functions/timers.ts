import { createTimersHandler } from '../src/lambda/timers-handler.ts';

export const handler = createTimersHandler();
