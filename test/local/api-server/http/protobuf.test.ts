// Bodies in protobuf, as kubectl 1.36 sent them. That a server answers them is shown by test/cluster/kubectl.test.ts.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readProtobuf } from '../../../../src/local/api-server/http/protobuf.ts';

const read = (base64: string) => readProtobuf(Buffer.from(base64, 'base64'));
const CONFIG_MAP =
  'azhzAAoPCgJ2MRIJQ29uZmlnTWFwEjIKGQoGcmVjaXBlEgAaA3RlYSIAKgAyADgAQgASCQoFZW1wdHkSABIKCgVzdGVwcxIBMxoAIgA=';
const DEPLOYMENT = 'azhzAAoVCgdhcHBzL3YxEgpEZXBsb3ltZW50EgA=';

describe('reading protobuf', () => {
  it.each([
    [
      'kubectl create configmap',
      CONFIG_MAP,
      { kind: 'ConfigMap', metadata: { name: 'recipe', namespace: 'tea' }, data: { empty: '', steps: '3' } },
    ],
    [
      'kubectl create namespace',
      'azhzAAoPCgJ2MRIJTmFtZXNwYWNlEhsKEwoDdGVhEgAaACIAKgAyADgAQgASABoCCgAaACIA',
      { kind: 'Namespace', metadata: { name: 'tea' } },
    ],
    [
      'kubectl create secret',
      'azhzAAoMCgJ2MRIGU2VjcmV0EiAKEQoBeBIAGgAiACoAMgA4AEIAEgYKAWESAWIaA2sveBoAIgA=',
      { kind: 'Secret', metadata: { name: 'x' }, data: { a: 'Yg==' }, type: 'k/x' },
    ],
    [
      'kubectl create serviceaccount',
      'azhzAAoUCgJ2MRIOU2VydmljZUFjY291bnQSEwoRCgF4EgAaACIAKgAyADgAQgAaACIA',
      { kind: 'ServiceAccount', metadata: { name: 'x' } },
    ],
  ])('%s is the object that was meant', (_command, base64, expected) => {
    expect(read(base64)).toEqual({ apiVersion: 'v1', ...expected });
  });

  it('a kind without a table is undefined, so that the server can say what it takes instead', () => {
    expect(read(DEPLOYMENT)).toBeUndefined();
  });

  it('bytes that are no protobuf of Kubernetes are an error', () => {
    expect(() => readProtobuf(Buffer.from('{}'))).toThrow('does not appear to be a protobuf message');
  });

  it('a body that was cut off never reads as the whole object', () => {
    const whole = Buffer.from(CONFIG_MAP, 'base64');
    fc.assert(
      fc.property(fc.integer({ min: 4, max: whole.length - 5 }), (length) => {
        const cut = (): unknown => readProtobuf(whole.subarray(0, length));
        try {
          expect(cut()).not.toEqual(readProtobuf(whole));
        } catch (error) {
          expect(String(error)).toContain('protobuf');
        }
      }),
    );
  });
});
