// X15, whose a child is, and hostile states of children, as the generated roles' users on a real kube-apiserver that enforces owner
// references and has no garbage collector.
import { afterAll } from 'vitest';
import { damageCases, ownersCases, takenCases } from '../cross/ownership-cases.ts';
import { startClusterTheatre } from './cross-harness.ts';

const { theatre, close } = await startClusterTheatre();
afterAll(close);

takenCases(theatre);
ownersCases(theatre);
damageCases(theatre);
