// The controllers of the examples as a registry, for tests that package a service.
import path from 'node:path';
import { loadProject } from '@outrigger/cli/project/project';

/** All of them, as the project in `examples` has them. */
export const { registry: examplesRegistry } = await loadProject(path.resolve(import.meta.dirname, '../../examples'));
