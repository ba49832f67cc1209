// A program that shows the picture of a system in memory, until Ctrl-C. Its resync crashes it.
import { DevScreen } from '@outrigger/cli/commands/dev-screen';
import { createFakeSource } from '../console/fake-source.ts';

const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
const screen = new DevScreen(stop.signal, { verbose: false });
const crash = async () =>
  void setImmediate(() => {
    throw new Error('a crash');
  });
screen.follow({ source: createFakeSource(), url: 'http://127.0.0.1:1/#token', resync: crash });
for (let line = 1; line <= 600; line += 1) screen.print({ source: 'system', text: `line ${line}` });
