// The authorizer library of Kubernetes' CEL (k8s.io/apiserver/pkg/cel/library, authz.go): `authorizer.group('')
// .resource('secrets').namespace('a').name('b').check('get').allowed()`. This server authorizes nothing, so whatever is
// asked is allowed.
import { type CelFunc, CelScalar, celMethod } from '@bufbuild/cel';

const { DYN, BOOL, STRING } = CelScalar;

/** The functions of `authorizer`. Each step of a check returns the same value. */
export const authorizerFunctions: readonly CelFunc[] = [
  ...['path', 'group', 'resource', 'subresource', 'namespace', 'name', 'check', 'fieldSelector', 'labelSelector'].map(
    (step) => celMethod(step, DYN, [STRING], DYN, returnThis),
  ),
  celMethod('serviceAccount', DYN, [STRING, STRING], DYN, returnThis),
  celMethod('allowed', DYN, [], BOOL, () => true),
  celMethod('errored', DYN, [], BOOL, () => false),
  celMethod('error', DYN, [], STRING, () => ''),
  celMethod('reason', DYN, [], STRING, () => ''),
];

function returnThis<T>(this: T): T {
  return this;
}
