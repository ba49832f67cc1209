// The authorizer library of Kubernetes' CEL (k8s.io/apiserver/pkg/cel/library, authz.go): `authorizer.group('')
// .resource('secrets').namespace('a').name('b').check('get').allowed()`. This server authorizes nothing, so whatever is
// asked is allowed.
import { type CelFunc, CelScalar } from '@bufbuild/cel';
import { methodOf } from '../schema/cel-method.ts';

const { DYN, BOOL, STRING } = CelScalar;

/** The functions of `authorizer`. Each step of a check returns the same value. */
export const authorizerFunctions: readonly CelFunc[] = [
  ...['path', 'group', 'resource', 'subresource', 'namespace', 'name', 'check', 'fieldSelector', 'labelSelector'].map(
    (step) => methodOf(DYN, step, [STRING], DYN, (self) => self),
  ),
  methodOf(DYN, 'serviceAccount', [STRING, STRING], DYN, (self) => self),
  methodOf(DYN, 'allowed', [], BOOL, () => true),
  methodOf(DYN, 'errored', [], BOOL, () => false),
  methodOf(DYN, 'error', [], STRING, () => ''),
  methodOf(DYN, 'reason', [], STRING, () => ''),
];
