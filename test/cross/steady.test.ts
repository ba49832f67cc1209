// X2, X5, X13 on the in-memory API server.
import { inMemory } from './in-memory.ts';
import { idleCases, metadataCases, replayCases } from './steady-cases.ts';

idleCases(inMemory);
metadataCases(inMemory);
replayCases(inMemory);
