// X15 and hostile states of children on the API server of this repository.
import { inMemory } from './in-memory.ts';
import { damageCases, takenCases } from './ownership-cases.ts';

takenCases(inMemory);
damageCases(inMemory);
