// One ValidatingAdmissionPolicy on one request: its match conditions, variables and validations in CEL
// (k8s.io/apiserver/pkg/admission/plugin/policy/validating, validator.go). Not supported: parameters, audit
// annotations, and the limit of costs. A variable is evaluated when an expression uses it, and once.
import { type CelInput, type CelValue, isCelError } from '@bufbuild/cel';
import { getIn, getList, getString, type Json, type JsonObject } from '../json.ts';
import { compileRule } from '../schema/rules.ts';

/** The values of the identifiers in expressions, such as `object` and `request`. */
export type PolicyInput = Readonly<Record<string, CelInput>>;

/** A violated validation, or an expression that cannot be evaluated. */
export type Violation = { readonly message: string; readonly reason: string };

/** kube-apiserver's limit of an evaluated message. */
const maxMessageBytes = 5 * 1024;

/** Returns the violations of a policy: none for a request that a match condition excludes. */
export function violationsOf(policy: JsonObject, input: PolicyInput): readonly Violation[] {
  const spec = getIn(policy, 'spec');
  const isStrict = getString(spec, 'failurePolicy') !== 'Ignore';
  const failed = (message: string) => (isStrict ? [{ message, reason: '' }] : []);
  if (getIn(spec, 'paramKind') !== undefined)
    return failed('this server does not evaluate policies with parameters (paramKind)');
  const conditions = getList(spec, 'matchConditions').map((one) => evaluate(one, input));
  if (conditions.includes(false)) return [];
  const broken = conditions.find((one) => one instanceof Error);
  if (broken instanceof Error) return failed(broken.message);
  const scope = withVariables(getList(spec, 'variables'), input);
  return getList(spec, 'validations').flatMap((validation) => {
    const result = evaluate(validation, scope);
    if (result === true) return [];
    if (result instanceof Error) return failed(result.message);
    const reason = getString(validation, 'reason') || 'Invalid';
    return [{ message: messageOf(validation, scope), reason }];
  });
}

function messageOf(validation: Json, input: PolicyInput): string {
  const expression = getString(validation, 'messageExpression');
  const made = expression === '' ? undefined : evaluate({ expression }, input);
  if (typeof made === 'string' && made.trim() !== '' && !made.includes('\n') && made.length <= maxMessageBytes)
    return made.trim();
  const message = getString(validation, 'message').trim();
  return message === '' ? `failed expression: ${getString(validation, 'expression').trim()}` : message;
}

/** Evaluates the `expression` of a part of a policy. Returns an Error that quotes it, as kube-apiserver's does. */
function evaluate(part: Json, input: PolicyInput): CelValue | Error {
  const expression = getString(part, 'expression');
  const program = compileRule(expression);
  if (program instanceof Error) return new Error(`compilation error: compilation failed: ${program.message}`);
  const result = program(input);
  if (!isCelError(result)) return result;
  const text = result.message.replace(/^field not found:/, 'no such key:');
  return new Error(`expression '${expression}' resulted in error: ${text}`);
}

/** Adds `variables`. The input stays the prototype, so that its values are still made when they are read. */
function withVariables(declared: readonly Json[], input: PolicyInput): PolicyInput {
  const scope: PolicyInput = Object.create(input, {
    variables: { get: () => variables },
  });
  const variables = new Variables(declared, scope);
  return scope;
}

/** A map of CEL, whose fields are read by `get`. */
class Variables extends Map<string, CelInput> {
  readonly #declared: ReadonlyMap<string, Json>;
  readonly #scope: PolicyInput;

  constructor(declared: readonly Json[], scope: PolicyInput) {
    super();
    this.#declared = new Map(declared.map((one) => [getString(one, 'name'), one]));
    this.#scope = scope;
  }

  override get(name: string): CelInput | undefined {
    const declared = this.#declared.get(name);
    if (!this.has(name) && declared !== undefined) {
      const value = evaluate(declared, this.#scope);
      if (value instanceof Error) throw value;
      this.set(name, value);
    }
    return super.get(name);
  }
}
