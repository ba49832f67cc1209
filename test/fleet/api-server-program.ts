// The API server of one cluster of a fleet, as a process: what its users do must cost the others nothing but their share of the
// machine. It tells whoever forked it its address, and ends with him. An entry point; it exports nothing.
import { startApiServer } from '../../src/apiserver/server.ts';

const server = await startApiServer({ bookmarkSeconds: 10 });
process.once('disconnect', () => process.exit(0));
process.send?.({ url: server.url });
