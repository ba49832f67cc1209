// X3 on the in-memory API server.
import { inMemory } from './in-memory.ts';
import { resyncCases } from './resync-cases.ts';

resyncCases(inMemory);
