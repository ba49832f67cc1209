// X6 on the API server of this repository.

import { crashCases } from './crash-cases.ts';
import { inMemory } from './in-memory.ts';

crashCases(inMemory);
