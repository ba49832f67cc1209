// AWS without an account: moto, as a server that loses its state when it ends.
import type { ChildProcesses } from '../../tools/control-plane/child-processes.ts';
import { untilLogged } from '../support/until-logged.ts';
import { pythonTools } from './python-tools.ts';

// ValidateTemplate would lint the whole template with cfn-lint for each deployment of osls: linters.test.ts does it once.
const server = `import sys
from moto.cloudformation.models import CloudFormationBackend
from moto.server import main
CloudFormationBackend.validate_template = lambda *_: []
main(sys.argv[1:])`;

/** Starts it on a free loopback port; resolves with its endpoint, which serves all services. */
export async function startEmulatedAws(children: ChildProcesses): Promise<string> {
  const { python } = await pythonTools();
  const program = children.start('moto', python, ['-c', server, '-H', '127.0.0.1', '-p', '0']);
  const [, endpoint = ''] = await untilLogged(program, /Running on (http:\/\/[\d.]+:\d+)/);
  return endpoint;
}
