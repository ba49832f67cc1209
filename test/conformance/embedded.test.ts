// The conformance suite on the in-memory API server: it answers as the real one does, case by case. That the cases themselves
// are right is shown by test/cluster/conformance.test.ts and history.test.ts.
import { afterAll, describe } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { conformance } from './conformance.ts';
import { historyCases } from './history.ts';
import { createSuite } from './suite.ts';

const SHORT_MEMORY_CHANGES = 20;

const server = await startApiServer();
const forgetful = await startApiServer({ eventWindow: SHORT_MEMORY_CHANGES });
afterAll(() => Promise.all([server.close(), forgetful.close()]));

describe('an API server that remembers', () => conformance({ url: server.url }));
describe('an API server that forgets', () => historyCases(createSuite({ url: forgetful.url })));
