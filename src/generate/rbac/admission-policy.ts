// A ValidatingAdmissionPolicy for one controller's identity, for limits that RBAC cannot express. It does not apply to
// other identities. If it cannot be evaluated, the request is rejected.

import type { JsonObject } from '../../core/json.ts';
import { controllerIdentity, controllerRole } from '../../core/names.ts';

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
 * entry). A rejection is 403 Forbidden: the default, 422, is what an object that violates its schema gets.
 */
export function admissionPolicy(
  { controller, project }: PolicySubject,
  about: string,
  { target, variables, validations }: PolicyRules,
): readonly JsonObject[] {
  const policy = `${controllerRole(controller, project)}-${about}`;
  const identity = controllerIdentity(controller, project);
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: policy },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: { resourceRules: target },
        matchConditions: [
          {
            name: 'is-the-controller',
            expression:
              `request.userInfo.username == '${identity}' || ` +
              `'${identity}' in request.userInfo.?groups.orValue([])`,
          },
        ],
        ...(variables === undefined ? {} : { variables }),
        validations: validations.map((one) => ({ ...one, reason: 'Forbidden' })),
      },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: policy },
      spec: { policyName: policy, validationActions: ['Deny', 'Audit'] },
    },
  ];
}
