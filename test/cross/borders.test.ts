// X17, X19, X22 on the in-memory API server.
import { namespaceCases, twinCases, watchedNamespaceCases } from './border-cases.ts';
import { inMemory } from './in-memory.ts';

namespaceCases(inMemory);
watchedNamespaceCases(inMemory);
twinCases(inMemory);
