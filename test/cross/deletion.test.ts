// X14, X16 on the in-memory API server.
import { deletionCases, finalizerCases } from './deletion-cases.ts';
import { inMemory } from './in-memory.ts';

finalizerCases(inMemory);
deletionCases(inMemory);
