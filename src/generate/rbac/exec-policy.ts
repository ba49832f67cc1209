// RBAC gives pods/exec whole or not at all: whoever has it may run a shell. An admission policy on CONNECT leaves of it the
// commands that the controller declared, and nothing that one could type into.
import { commandRules, type ExecDeclaration } from '../../api/exec.ts';
import { admissionPolicy } from './admission-policy.ts';
import type { JsonObject } from '../json.ts';

/** Makes the policy and its binding. The object of a CONNECT is its PodExecOptions; what is not said is not there. */
export function execPolicy(name: string, declaration: ExecDeclaration): readonly JsonObject[] {
  const allowed = commandRules(declaration).map(({ argv }) => {
    const words = argv.map((word, index) => `object.command[${index}] == ${celText(word)}`);
    return [`size(object.?command.orValue([])) >= ${argv.length}`, ...words].join(' && ');
  });
  return admissionPolicy(name, 'exec', {
    target: { apiGroups: [''], apiVersions: ['v1'], operations: ['CONNECT'], resources: ['pods/exec'] },
    validations: [
      { expression: allowed.join(' || '), message: `${name} may run nothing but the commands that it declares` },
      {
        expression: `object.?container.orValue('').endsWith(${celText(declaration.container)})`,
        message: `${name} may run commands only in the containers that it declares`,
      },
      {
        expression: '!object.?stdin.orValue(false) && !object.?tty.orValue(false)',
        message: `${name} may neither type nor have a terminal`,
      },
    ],
  });
}

/** Writes a text as CEL does: every escape of JSON is one of CEL's. */
function celText(text: string): string {
  return JSON.stringify(text);
}
