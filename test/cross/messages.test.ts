// X1, X20, X21 on the in-memory API server.
import { inMemory } from './in-memory.ts';
import { messageCases, refusalCases, waitCases } from './message-cases.ts';

messageCases(inMemory);
refusalCases(inMemory);
waitCases(inMemory);
