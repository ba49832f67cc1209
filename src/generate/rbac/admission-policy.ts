// A ValidatingAdmissionPolicy, usually for one controller's identity, for limits that RBAC cannot express. If it cannot
// be evaluated, the request is rejected.

import type { JsonObject } from '../../core/json.ts';
import { controllerIdentity, controllerRole } from '../../core/names.ts';

/** The kinds of an admission policy and its binding. */
export const policyKinds: readonly string[] = ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'];

/** The controller that a policy limits. */
export type PolicySubject = { readonly controller: string; readonly project?: string | undefined };

/** The requests that are checked, and the CEL expressions that must hold. */
export type PolicyRules = {
  readonly target: readonly {
    readonly apiGroups: readonly string[];
    readonly apiVersions: readonly string[];
    readonly operations: readonly string[];
    readonly resources: readonly string[];
  }[];
  /** Expressions that the validations use as `variables.NAME`. */
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
  readonly validations: readonly { readonly expression: string; readonly message: string }[];
};

/**
 * Makes a policy and its binding. A controller is a user (of a token or certificate) or a group (of an EKS access
 * entry).
 */
export function admissionPolicy(
  { controller, project }: PolicySubject,
  about: string,
  rules: PolicyRules,
): readonly JsonObject[] {
  const policy = `${controllerRole(controller, project)}-${about}`;
  const identity = controllerIdentity(controller, project);
  const expression =
    `request.userInfo.username == '${identity}' || ` + `'${identity}' in request.userInfo.?groups.orValue([])`;
  return policyAndBinding(policy, rules, [{ name: 'is-the-controller', expression }]);
}

/**
 * Makes a policy and its binding. Without conditions it applies to every user. A rejection is 403 Forbidden: the
 * default, 422, is what an object that violates its schema gets.
 */
export function policyAndBinding(
  name: string,
  { target, variables, validations }: PolicyRules,
  matchConditions?: readonly { readonly name: string; readonly expression: string }[],
): readonly JsonObject[] {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  return [
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          // The API server's defaults: a tool that compares the files with the cluster would see a difference for ever.
          matchPolicy: 'Equivalent',
          namespaceSelector: {},
          objectSelector: {},
          resourceRules: target.map((rule) => ({ ...rule, scope: '*' })),
        },
        matchConditions,
        variables,
        validations: validations.map((one) => ({ ...one, reason: 'Forbidden' })),
      },
    },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny', 'Audit'] },
    },
  ];
}
