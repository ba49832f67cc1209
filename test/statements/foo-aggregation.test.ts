// The statements of foo-aggregation-cases.ts (V8 to V13) on the in-memory API server. test/cluster/samples-alone.test.ts runs the same on the real one.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { fooAggregationCases } from './foo-aggregation-cases.ts';

const server = await startApiServer();
afterAll(() => server.close());

fooAggregationCases(() => ({ server: new URL(server.url) }));
