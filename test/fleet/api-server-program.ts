// The API server of one cluster of a fleet, as a process of its own, so that its load costs the others only their share of the machine. It
// reports its address to its parent and ends with it. An entry point; it exports nothing.
import { startApiServer } from '../../src/apiserver/server.ts';

const server = await startApiServer({ bookmarkSeconds: 10 });
process.once('disconnect', () => process.exit(0));
process.send?.({ url: server.url });
