// The module that `pepr build` packages: the capability of one job, which is an argument of the process.
import { writeSync } from 'node:fs';
import { PeprModule } from 'pepr';
import { foo } from './foo';
import { ping, slow } from './numbers';
import cfg from './package.json';
import { whenWatching } from './readiness';

const jobs = {
  foo: { capability: foo, plurals: ['foos', 'deployments'], watches: 3 },
  ping: { capability: ping, plurals: ['pings'], watches: 1 },
  slow: { capability: slow, plurals: ['slows'], watches: 1 },
};
const job = jobs[process.argv[2] as keyof typeof jobs];

if (job === undefined) {
  // During the build.
  new PeprModule(cfg, [foo, ping, slow]);
} else {
  // Standard output is only for this line; Pepr's log, which it writes there, is redirected.
  whenWatching(job.plurals, job.watches, () => writeSync(3, 'ready\n'));
  // Port 0, because the server is never called.
  new PeprModule(cfg, [job.capability], { deferStart: true }).start(0);
}
