// X7, X8 on the in-memory API server. The roles are test/generate/registry.test.ts.
import { inMemory } from './in-memory.ts';
import { raceCases, writesCases } from './writes-cases.ts';

writesCases(inMemory);
raceCases(inMemory);
