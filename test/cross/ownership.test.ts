// X15 and hostile states of children on the in-memory API server.
import { inMemory } from './in-memory.ts';
import { damageCases, releaseCases, takenCases } from './ownership-cases.ts';

takenCases(inMemory);
damageCases(inMemory);
releaseCases(inMemory);
