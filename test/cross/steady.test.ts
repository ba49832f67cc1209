// X5, X13 on the in-memory API server.
import { inMemory } from './in-memory.ts';
import { idleCases } from './steady-cases.ts';

idleCases(inMemory);
