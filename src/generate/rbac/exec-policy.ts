// RBAC can only allow pods/exec completely, which includes a shell. An admission policy on CONNECT limits it to the
// commands that the controller declared, without stdin and terminal.
import { commandRules, type ExecSpec } from '../../api/exec.ts';
import type { JsonObject } from '../../core/json.ts';
import { admissionPolicy, type PolicySubject } from './admission-policy.ts';

/**
 * Makes the policy and its binding. The object of a CONNECT is its PodExecOptions, in which unset fields are absent.
 */
export function execPolicy(subject: PolicySubject, declaration: ExecSpec): readonly JsonObject[] {
  const allowed = commandRules(declaration).map(({ argv }) => {
    const words = argv.map((word, index) => `object.command[${index}] == ${celText(word)}`);
    return [`size(object.?command.orValue([])) >= ${argv.length}`, ...words].join(' && ');
  });
  const { controller: name } = subject;
  return admissionPolicy(subject, 'exec', {
    target: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CONNECT'], resources: ['pods/exec'] }],
    validations: [
      { expression: allowed.join(' || '), message: `${name} may only run the commands that it declares` },
      {
        expression: `object.?container.orValue('').endsWith(${celText(declaration.container)})`,
        message: `${name} may only run commands in the containers that it declares`,
      },
      {
        expression: '!object.?stdin.orValue(false) && !object.?tty.orValue(false)',
        message: `${name} may use neither stdin nor a terminal`,
      },
    ],
  });
}

/** Formats a CEL string: every escape of JSON is valid in CEL. */
function celText(text: string): string {
  return JSON.stringify(text);
}
