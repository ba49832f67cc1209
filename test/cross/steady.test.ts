// X2, X5, X13 on the API server of this repository.
import { inMemory } from './in-memory.ts';
import { replayCases, steadyCases } from './steady-cases.ts';

steadyCases(inMemory);
replayCases(inMemory);
