// Enforces the ValidatingAdmissionPolicies in the store on the writes of users, as the last step before an object is
// stored (k8s.io/apiserver/pkg/admission/plugin/policy/validating, dispatcher.go). The server's own writes, such as
// those of the garbage collector, are not checked.
import type { CelInput } from '@bufbuild/cel';
import { getList, getMap, getString, type JsonObject } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { collectionSubject } from '../registry/resource.ts';
import { toCel } from '../schema/cel-values.ts';
import { anythingSchema } from '../schema/schema.ts';
import { forbidden, StatusError } from '../status-error.ts';
import type { Store } from '../store/store.ts';
import { concerns, matchesRules, selects, type Target } from './match.ts';
import { type PolicyInput, type Violation, violationsOf } from './policy.ts';
import type { User } from './user.ts';

/** A request that passed validation. */
export type Review = Target & {
  readonly namespace: string;
  /** The object as it will be; absent for a deletion. For a subresource such as `scale` its own kind. */
  readonly object?: JsonObject;
  /** The object as it is; absent for a creation. */
  readonly oldObject?: JsonObject;
  readonly dryRun: boolean;
  readonly user: User;
  /** Adds a `Warning` header to the response, for the validation action Warn. */
  warn(text: string): void;
};

/** The admission control of one server. Throws the StatusError of a violated policy: 403 or 422, by its reason. */
export type Admission = (review: Review) => void;

type BoundPolicy = { readonly policy: ApiObject; readonly bindings: readonly ApiObject[] };

const group = 'admissionregistration.k8s.io';
const policiesCollection = `${group}/validatingadmissionpolicies`;
const bindingsCollection = `${group}/validatingadmissionpolicybindings`;

/** Creates the admission control. It follows the policies and bindings in the store. */
export function createAdmission(store: Store): Admission {
  /** The policies whose rules include a target, by the target's text: most writes are to a few kinds. */
  let byTarget = new Map<string, readonly BoundPolicy[]>();
  const forget = () => {
    byTarget = new Map();
  };
  for (const collection of [policiesCollection, bindingsCollection]) store.subscribe(collection, forget);

  function policiesFor(target: Target): readonly BoundPolicy[] {
    const { operation, resource, subresource } = target;
    // No policy can lock an administrator out of the policies.
    if (resource.group === group) return [];
    const key = `${operation} ${resource.group}/${resource.version}/${resource.plural}/${subresource}`;
    const isFor = ({ policy }: BoundPolicy) => concerns(getMap(policy, 'spec', 'matchConstraints'), target);
    const found = byTarget.get(key) ?? boundPolicies(store).filter(isFor);
    byTarget.set(key, found);
    return found;
  }

  return (review) => {
    const candidates = policiesFor(review);
    if (candidates.length === 0) return;
    const namespaceObject = store.get('/namespaces', { namespace: '', name: review.namespace });
    const input = inputOf(review, namespaceObject);
    for (const { policy, bindings } of candidates) {
      const isSelected = (constraints: JsonObject) => selectsReview(constraints, review, namespaceObject);
      const bound = bindings.filter((one) => isSelected(getMap(one, 'spec', 'matchResources')));
      if (bound.length === 0 || !isSelected(getMap(policy, 'spec', 'matchConstraints'))) continue;
      for (const violation of violationsOf(policy, input)) act(violation, policy, bound, review);
    }
  };
}

function boundPolicies(store: Store): readonly BoundPolicy[] {
  const bindings = store.list(bindingsCollection);
  return store.list(policiesCollection).flatMap((policy) => {
    const bound = bindings.filter((one) => getString(one, 'spec', 'policyName') === policy.metadata.name);
    return bound.length === 0 ? [] : [{ policy, bindings: bound }];
  });
}

function selectsReview(constraints: JsonObject, review: Review, namespaceObject: ApiObject | undefined): boolean {
  const { resource, object, oldObject } = review;
  const isNamespace = resource.group === '' && resource.kind === 'Namespace';
  const namespaces = isNamespace ? [object ?? oldObject] : [namespaceObject];
  return (
    matchesRules(constraints, review) &&
    (!(resource.namespaced || isNamespace) || selects(getMap(constraints, 'namespaceSelector'), namespaces)) &&
    selects(getMap(constraints, 'objectSelector'), [object, oldObject])
  );
}

function act({ message, reason }: Violation, policy: ApiObject, bindings: readonly ApiObject[], review: Review): void {
  const name = policy.metadata.name ?? '';
  for (const binding of bindings) {
    const by = `ValidatingAdmissionPolicy '${name}' with binding '${binding.metadata.name}'`;
    const actions = getList(binding, 'spec', 'validationActions');
    if (actions.includes('Warn')) review.warn(`Validation failed for ${by}: ${message}`);
    if (actions.includes('Deny')) throw denied(`${by} denied request: ${message}`, reason || 'Invalid', review);
  }
}

const codes: Readonly<Record<string, number>> = { Unauthorized: 401, Forbidden: 403, RequestEntityTooLarge: 413 };

/** The message is that of a 403, whatever the reason is (dispatcher.go). */
function denied(message: string, reason: string, { resource, name, object }: Review): StatusError {
  const shown = name || getString(object, 'metadata', 'generateName') || 'Unknown';
  const { message: text, details } = forbidden(collectionSubject(resource), shown, message);
  return new StatusError(codes[reason] ?? 422, reason, text, { ...details, causes: [{ message }] });
}

/** The identifiers of expressions. Each value is made when an expression reads it, and once. */
function inputOf(review: Review, namespaceObject: ApiObject | undefined): PolicyInput {
  const once = (json: () => JsonObject | undefined) => {
    let made: CelInput | undefined;
    return { get: () => (made ??= toCel(json() ?? null, anythingSchema)) };
  };
  return Object.defineProperties(
    { authorizer: true },
    {
      object: once(() => review.object),
      oldObject: once(() => review.oldObject),
      request: once(() => requestOf(review)),
      namespaceObject: once(() => namespaceObject),
    },
  );
}

/** The AdmissionRequest (admission.k8s.io/v1) without its objects. Empty fields are absent. */
function requestOf({ operation, resource, subresource, name, namespace, object, oldObject, ...rest }: Review) {
  const { group: ofGroup, version, plural, kind } = resource;
  const seen = object ?? oldObject;
  const [seenVersion = version, seenGroup = ''] = getString(seen, 'apiVersion').split('/').toReversed();
  const kindOf = { group: seenGroup, version: seenVersion, kind: getString(seen, 'kind') || kind };
  const resourceOf = { group: ofGroup, version, resource: plural };
  const optional = Object.entries({ subResource: subresource, requestSubResource: subresource, name, namespace });
  return {
    kind: kindOf,
    requestKind: kindOf,
    resource: resourceOf,
    requestResource: resourceOf,
    ...Object.fromEntries(optional.filter(([, text]) => text !== '')),
    operation,
    userInfo: rest.user,
    dryRun: rest.dryRun,
  };
}
