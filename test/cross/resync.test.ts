// X3 on the API server of this repository.
import { inMemory } from './in-memory.ts';
import { resyncCases } from './resync-cases.ts';

resyncCases(inMemory);
