// X4 on the API server of this repository.
import { inMemory } from './in-memory.ts';
import { repeatedCases } from './repeated-cases.ts';

repeatedCases(inMemory);
