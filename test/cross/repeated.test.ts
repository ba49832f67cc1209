// X4 on the in-memory API server.
import { inMemory } from './in-memory.ts';
import { repeatedCases } from './repeated-cases.ts';

repeatedCases(inMemory);
