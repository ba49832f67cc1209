// What RBAC cannot say, an admission policy can: rules for one controller's identity alone. Everybody else is none of its
// business, and where it cannot be evaluated, nothing passes.
import { controllerIdentity } from '../../core/names.ts';
import type { JsonObject } from '../json.ts';

/** What is looked at, and what must hold (CEL) for it to pass. */
export type PolicyRules = {
  readonly target: {
    readonly apiGroups: readonly string[];
    readonly apiVersions: readonly string[];
    readonly operations: readonly string[];
    readonly resources: readonly string[];
  };
  readonly validations: readonly { readonly expression: string; readonly message: string }[];
};

/** Makes a policy and its binding. A controller comes as a user (a token's, a certificate's) or as a group (an EKS access entry's). */
export function admissionPolicy(
  controller: string,
  about: string,
  { target, validations }: PolicyRules,
): readonly JsonObject[] {
  const policy = `outrigger-${controller}-${about}`;
  const identity = controllerIdentity(controller);
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: policy },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: { resourceRules: [target] },
        matchConditions: [
          {
            name: 'is-the-controller',
            expression: `request.userInfo.username == '${identity}' || '${identity}' in request.userInfo.?groups.orValue([])`,
          },
        ],
        validations,
      },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: policy },
      spec: { policyName: policy, validationActions: ['Deny'] },
    },
  ];
}
