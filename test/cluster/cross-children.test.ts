// X15 (ownership of children) and hostile states of children, as the generated roles' users on a real kube-apiserver
// that enforces owner references and has no garbage collector.
import { afterAll } from 'vitest';
import { damageCases, ownersCases, takenCases } from '../cross/ownership-cases.ts';
import { startClusterHarness } from './cross-harness.ts';

const { harness, close } = await startClusterHarness();
afterAll(close);

takenCases(harness);
ownersCases(harness);
damageCases(harness);
