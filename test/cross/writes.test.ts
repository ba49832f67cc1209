// X7, X8 on the API server of this repository. What only the generated roles can say of X8 is roles.test.ts.
import { inMemory } from './in-memory.ts';
import { conflictCases, raceCases, writesCases } from './writes-cases.ts';

writesCases(inMemory);
raceCases(inMemory);
conflictCases(inMemory);
