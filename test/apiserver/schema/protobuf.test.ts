// Bodies in protobuf, as kubectl 1.36 sent them. That a server answers them is shown by test/cluster/kubectl.test.ts.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBuiltinSchemas } from '../../../src/local/api-server/schema/builtins.ts';
import { readProtobuf } from '../../../src/apiserver/schema/protobuf.ts';

const schemas = createBuiltinSchemas();
const CORE = 'io.k8s.api.core.v1';
const readAs = (bytes: Buffer, schemaName: string) => readProtobuf(bytes, schemaName, schemas);
const read = (base64: string, schemaName: string) => readAs(Buffer.from(base64, 'base64'), schemaName);
const CONFIG_MAP =
  'azhzAAoPCgJ2MRIJQ29uZmlnTWFwEjIKGQoGcmVjaXBlEgAaA3RlYSIAKgAyADgAQgASCQoFZW1wdHkSABIKCgVzdGVwcxIBMxoAIgA=';
const DEPLOYMENT =
  'azhzAAoVCgdhcHBzL3YxEgpEZXBsb3ltZW50ErYBCh0KAmQxEgAaACIAKgAyADgAQgBaCQoDYXBwEgJkMRKGAQgAEgsKCQoDYXBwEgJkMRptChsKABIAGgAiACoAMgA4AEIAWgkKA2FwcBICZDESThIwCgVuZ2lueBIHbmdpbng6MSoAMgoKABAAGFAiACoAQgBqAHIAgAEAiAEAkAEAogEAGgAyAEIASgBSAFgAYABoAIIBAIoBAJoBAMIBACICCgAoADgAGgwIABAAGAAgACgAOAAaACIA';
const SERVICE =
  'azhzAAoNCgJ2MRIHU2VydmljZRJkChsKAXMSABoAIgAqADIAOABCAFoICgNhcHASAXMSQQocCgY4MC13ZWISA1RDUBhQIgkIARAAGgN3ZWIoABIICgNhcHASAXMaACIJQ2x1c3RlcklQOgBCAFIAWgBgAGgAGgIKABoAIgA=';

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
    expect(read(base64, `${CORE}.${expected.kind}`)).toMatchObject({ apiVersion: 'v1', ...expected });
  });

  it('a deployment of nothing keeps its zero, and what Go left empty is absent', () => {
    expect(read(DEPLOYMENT, 'io.k8s.api.apps.v1.Deployment')).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd1', labels: { app: 'd1' } },
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: 'd1' } },
        strategy: {},
        template: {
          metadata: { labels: { app: 'd1' } },
          spec: { containers: [{ name: 'nginx', image: 'nginx:1', ports: [{ containerPort: 80 }], resources: {} }] },
        },
      },
      status: { replicas: 0 },
    });
  });

  it('a port may be a name', () => {
    const ports = [{ name: '80-web', protocol: 'TCP', port: 80, targetPort: 'web' }];
    expect(read(SERVICE, `${CORE}.Service`)).toMatchObject({
      spec: { ports, selector: { app: 's' }, type: 'ClusterIP' },
    });
  });

  it('bytes that are no protobuf of Kubernetes are nothing', () => {
    expect(readAs(Buffer.from('{}'), `${CORE}.ConfigMap`)).toBeUndefined();
  });

  it('a body that was cut off never reads as the whole object', () => {
    const whole = Buffer.from(CONFIG_MAP, 'base64');
    const name = `${CORE}.ConfigMap`;
    fc.assert(
      fc.property(fc.integer({ min: 0, max: whole.length - 5 }), (length) => {
        expect(readAs(whole.subarray(0, length), name)).not.toEqual(readAs(whole, name));
      }),
    );
  });
});
