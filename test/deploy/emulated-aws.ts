// AWS without an account: moto, as a server of its own that forgets everything when it ends.
import type { ChildProcesses } from '../../tools/control-plane/child-processes.ts';
import { untilLogged } from '../support/until-logged.ts';
import { pythonTools } from './python-tools.ts';

/** Starts it on a free port of loopback; resolves with its endpoint, which is every service's. */
export async function startEmulatedAws(children: ChildProcesses): Promise<string> {
  const { python, program } = await pythonTools();
  const server = children.start('moto', python, program('moto_server', '-H', '127.0.0.1', '-p', '0'));
  const [, endpoint = ''] = await untilLogged(server, /Running on (http:\/\/[\d.]+:\d+)/);
  return endpoint;
}
