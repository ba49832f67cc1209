// The conformance suite on the in-memory API server. test/cluster/conformance.test.ts and history.test.ts run the same
// cases on a real kube-apiserver, which shows that the cases are correct.
import { afterAll, describe } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { conformance } from './conformance.ts';
import { historyCases } from './history.ts';
import { createSuite } from './suite.ts';

const shortEventWindow = 20;

const server = await startApiServer();
const compacting = await startApiServer({ eventWindow: shortEventWindow });
afterAll(() => Promise.all([server.close(), compacting.close()]));

describe('the in-memory API server', () => conformance({ url: server.url }));
describe('the in-memory API server with a short history', () => historyCases(createSuite({ url: compacting.url })));
