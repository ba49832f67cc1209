// Bodies in protobuf that kubectl 1.36 sent. test/cluster/kubectl.test.ts tests kubectl with the server.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { publishedSchemas } from '../../src/schema/builtins.ts';
import { readProtobuf } from '../../src/schema/protobuf.ts';

const schemas = publishedSchemas;
const corePrefix = 'io.k8s.api.core.v1';
const readAs = (bytes: Buffer, schemaName: string) => readProtobuf(bytes, schemaName, schemas);
const read = (base64: string, schemaName: string) => readAs(Buffer.from(base64, 'base64'), schemaName);
const configMapBytes =
  'azhzAAoPCgJ2MRIJQ29uZmlnTWFwEjIKGQoGcmVjaXBlEgAaA3RlYSIAKgAyADgAQgASCQoFZW1wdHkSABIKCgVzdGVwcxIBMxoAIgA=';
const deploymentBytes =
  'azhzAAoVCgdhcHBzL3YxEgpEZXBsb3ltZW50ErYBCh0KAmQxEgAaACIAKgAyADgAQgBaCQoDYXBwEgJkMRKGAQgAEgsKCQoDYXBwEgJkMRptChsKABIAGgAiACoAMgA4AEIAWgkKA2FwcBICZDESThIwCgVuZ2lueBIHbmdpbng6MSoAMgoKABAAGFAiACoAQgBqAHIAgAEAiAEAkAEAogEAGgAyAEIASgBSAFgAYABoAIIBAIoBAJoBAMIBACICCgAoADgAGgwIABAAGAAgACgAOAAaACIA';
const serviceBytes =
  'azhzAAoNCgJ2MRIHU2VydmljZRJkChsKAXMSABoAIgAqADIAOABCAFoICgNhcHASAXMSQQocCgY4MC13ZWISA1RDUBhQIgkIARAAGgN3ZWIoABIICgNhcHASAXMaACIJQ2x1c3RlcklQOgBCAFIAWgBgAGgAGgIKABoAIgA=';

describe('reading protobuf', () => {
  it.each([
    [
      'kubectl create configmap',
      configMapBytes,
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
  ])('the protobuf body of %s decodes to the object', (_command, base64, expected) => {
    expect(read(base64, `${corePrefix}.${expected.kind}`)).toMatchObject({ apiVersion: 'v1', ...expected });
  });

  it('a decoded deployment keeps replicas 0 and omits the other zero values of Go', () => {
    expect(read(deploymentBytes, 'io.k8s.api.apps.v1.Deployment')).toEqual({
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

  it('a decoded service has a target port by name', () => {
    const ports = [{ name: '80-web', protocol: 'TCP', port: 80, targetPort: 'web' }];
    expect(read(serviceBytes, `${corePrefix}.Service`)).toMatchObject({
      spec: { ports, selector: { app: 's' }, type: 'ClusterIP' },
    });
  });

  it('a body without the magic bytes of Kubernetes decodes to undefined', () => {
    expect(readAs(Buffer.from('{}'), `${corePrefix}.ConfigMap`)).toBeUndefined();
  });

  it('a truncated protobuf body never decodes to the whole object', () => {
    const whole = Buffer.from(configMapBytes, 'base64');
    const name = `${corePrefix}.ConfigMap`;
    fc.assert(
      fc.property(fc.integer({ min: 0, max: whole.length - 5 }), (length) => {
        expect(readAs(whole.subarray(0, length), name)).not.toEqual(readAs(whole, name));
      }),
    );
  });
});
