// X6 on the in-memory API server.

import { crashCases } from './crash-cases.ts';
import { inMemory } from './in-memory.ts';

crashCases(inMemory);
