// The API servers of clusters of a fleet, as a process of their own, so that their load costs the others only their share of the
// machine. The first argument is their number, 1 by default. It reports their addresses to its parent and ends with it. An entry
// point; it exports nothing.
import { startApiServer } from '../../src/apiserver/server.ts';

const count = Number(process.argv[2] ?? 1);
const servers = await Promise.all(Array.from({ length: count }, () => startApiServer({ bookmarkSeconds: 10 })));
process.once('disconnect', () => process.exit(0));
process.send?.({ url: servers[0]?.url, urls: servers.map(({ url }) => url) });
