// AWS without an account: moto, as a server that loses its state when it ends.
import type { ChildProcesses } from '../../tools/control-plane/child-processes.ts';
import { untilLogged } from '../support/until-logged.ts';
import { pythonTools } from './python-tools.ts';

// ValidateTemplate would lint the whole template with cfn-lint for each deployment of osls: linters.test.ts does it once.
// A change set of moto leaves the outputs of the stack as they were.
const server = `import sys
from moto.cloudformation.models import ChangeSet, CloudFormationBackend
from moto.cloudformation.parsing import OutputMap
from moto.server import main
CloudFormationBackend.validate_template = lambda *_: []
apply = ChangeSet.apply
def apply_with_outputs(self):
    apply(self)
    self.stack.output_map = OutputMap(self.stack.resource_map, self.template_dict, self.stack.stack_id)
ChangeSet.apply = apply_with_outputs
main(sys.argv[1:])`;

/** Starts it on a free loopback port; resolves with its endpoint, which serves all services. */
export async function startEmulatedAws(children: ChildProcesses): Promise<string> {
  const { python } = await pythonTools();
  const program = children.start('moto', python, ['-c', server, '-H', '127.0.0.1', '-p', '0']);
  const [, endpoint = ''] = await untilLogged(program, /Running on (http:\/\/[\d.]+:\d+)/);
  return endpoint;
}
