// X7, X8 on the in-memory API server. roles.test.ts has the part of X8 that is in the generated roles.
import { inMemory } from './in-memory.ts';
import { raceCases, writesCases } from './writes-cases.ts';

writesCases(inMemory);
raceCases(inMemory);
