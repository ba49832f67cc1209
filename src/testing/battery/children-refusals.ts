// Whether the admission policy that `outrigger generate` writes for the children of a controller lets one be created.
// The generated policy is evaluated, not a second list of the rules.
import type { CelInput } from '@bufbuild/cel';
import * as z from 'zod';
import type { ControllerDefinition } from '../../api/definition.ts';
import type { Kind } from '../../api/kind.ts';
import { toCel } from '../../apiserver/schema/cel-values.ts';
import { compileRule } from '../../apiserver/schema/rules.ts';
import { anythingSchema } from '../../apiserver/schema/schema.ts';
import { childrenPolicy } from '../../generate/rbac/children-policy.ts';
import type { KubeObject } from '../../kube/client/object.ts';

const named = z.object({ name: z.string(), expression: z.string() });
const policyShape = z.object({
  kind: z.literal('ValidatingAdmissionPolicy'),
  spec: z.object({
    variables: z.array(named),
    validations: z.array(z.object({ expression: z.string(), message: z.string() })),
  }),
});

/** Returns a function that lists the messages of the rules by which a new child of a kind is refused. */
export function refusalsBy(controller: ControllerDefinition): (kind: Kind, child: KubeObject) => readonly string[] {
  const evaluate = (expression: string, input: Record<string, CelInput>) => {
    const program = compileRule(expression);
    return program instanceof Error ? program : program(input);
  };
  const policy = policyShape.optional().parse(childrenPolicy(controller)[0])?.spec;
  return ({ group, kind }, child) => {
    const variables = new Map<string, CelInput>();
    const object = toCel(JSON.parse(JSON.stringify(child)), anythingSchema);
    const input = { object, oldObject: null, request: { kind: { group, kind } }, variables };
    for (const { name, expression } of policy?.variables ?? []) {
      const value = evaluate(expression, input);
      if (value instanceof Error) throw value;
      variables.set(name, value);
    }
    return (policy?.validations ?? []).flatMap(({ expression, message }) =>
      evaluate(expression, input) === true ? [] : [message],
    );
  };
}
