// X14, X16 on the API server of this repository.
import { deletionCases, finalizerCases } from './deletion-cases.ts';
import { inMemory } from './in-memory.ts';

finalizerCases(inMemory);
deletionCases(inMemory);
