// AWS without an account: moto, as a server that loses its state when it ends.
import type { ChildProcesses } from '../../tools/control-plane/child-processes.ts';
import { untilLogged } from '../support/until-logged.ts';
import { pythonTools } from './python-tools.ts';

/** Starts it on a free loopback port; resolves with its endpoint, which serves all services. */
export async function startEmulatedAws(children: ChildProcesses): Promise<string> {
  const { python, program } = await pythonTools();
  const server = children.start('moto', python, program('moto_server', '-H', '127.0.0.1', '-p', '0'));
  const [, endpoint = ''] = await untilLogged(server, /Running on (http:\/\/[\d.]+:\d+)/);
  return endpoint;
}
