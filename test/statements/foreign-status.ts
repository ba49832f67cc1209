// Controllers that implement kinds of other projects, and write what is theirs of the status: an issuer of cert-manager's
// Certificates, a class of the Gateway API, and the machines of an infrastructure provider of Cluster API, whose
// conditions are a list without keys and have no observedGeneration.
import type { KubeObject } from '../../src/kube/client/object.ts';
import { Secret } from '../../src/kubernetes.ts';
import { foreignKind, notOk, ok } from '../../src/outrigger.ts';

type CertificateObject = {
  readonly metadata: { readonly name: string; readonly generation: number };
  readonly spec?: { readonly secretName: string; readonly dnsNames?: readonly string[] };
  readonly status?: { readonly notAfter?: string; readonly renewalTime?: string; readonly revision?: number };
};
export const Certificate = foreignKind<CertificateObject, 'Certificate'>({
  group: 'cert-manager.io',
  version: 'v1',
  kind: 'Certificate',
  status: 'observed-conditions',
});
const day = 86_400_000;

export const issuer = Certificate.statusSlice({
  status: ['notAfter', 'revision'],
  conditions: ['Ready', 'Issuing'],
}).controller('issuer', {
  owns: [Secret],
  async reconcile({ metadata: { creationTimestamp = '', generation }, spec }, { apply }) {
    const { secretName = '', dnsNames = [] } = spec ?? {};
    if (dnsNames.length === 0) throw new Error('no names');
    await apply(Secret, { metadata: { name: secretName }, stringData: { 'tls.crt': dnsNames.join() } });
    const notAfter = `${new Date(Date.parse(creationTimestamp) + 90 * day).toISOString().slice(0, 19)}Z`;
    return {
      status: { notAfter, revision: generation },
      conditions: { Ready: ok('Issued', dnsNames.join()), Issuing: notOk('UpToDate') },
    };
  },
});

type GatewayClassObject = {
  readonly metadata: { readonly name: string; readonly generation: number };
  readonly spec?: { readonly controllerName: string; readonly description?: string };
};
export const GatewayClass = foreignKind<GatewayClassObject, 'GatewayClass', 'Cluster'>({
  group: 'gateway.networking.k8s.io',
  version: 'v1',
  kind: 'GatewayClass',
  plural: 'gatewayclasses',
  scope: 'Cluster',
  status: 'observed-conditions',
});

export const accepter = GatewayClass.statusSlice({ conditions: ['Accepted'] }).controller('accepter', {
  async reconcile({ spec }) {
    const isOurs = spec?.controllerName === 'example.com/gateway';
    return { conditions: { Accepted: isOurs ? ok('Accepted', spec.description) : notOk('Unsupported') } };
  },
});

type MachineObject = {
  readonly metadata: { readonly name: string; readonly generation: number };
  readonly spec?: { readonly size: string };
  readonly status?: {
    readonly ready?: boolean;
    readonly initialization?: { readonly provisioned?: boolean };
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly failureReason?: string;
  };
};
export const DemoMachine = foreignKind<MachineObject, 'DemoMachine'>({
  group: 'infrastructure.cluster.x-k8s.io',
  version: 'v1beta1',
  kind: 'DemoMachine',
});

export const provider = DemoMachine.statusSlice({
  status: ['ready', 'initialization', 'addresses'],
  conditions: ['Ready'],
}).controller('provider', {
  async reconcile({ spec }) {
    if (spec?.size === 'none') throw new Error('no such size');
    const addresses = [{ type: 'InternalIP', address: spec?.size === 'small' ? '192.0.2.1' : '192.0.2.2' }];
    return {
      status: { ready: true, initialization: { provisioned: true }, addresses },
      conditions: { Ready: ok('Running') },
    };
  },
});

const text = { type: 'string' };
const object = (properties: object, required: readonly string[] = []) => ({ type: 'object', properties, required });
/** As in the contract of infrastructure providers of v1beta1. */
export const machineCrd: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'demomachines.infrastructure.cluster.x-k8s.io' },
  spec: {
    group: 'infrastructure.cluster.x-k8s.io',
    scope: 'Namespaced',
    names: { kind: 'DemoMachine', plural: 'demomachines' },
    versions: [
      {
        name: 'v1beta1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: object({
            spec: object({ size: text }),
            status: object({
              ready: { type: 'boolean' },
              initialization: object({ provisioned: { type: 'boolean' } }),
              addresses: { type: 'array', items: object({ type: text, address: text }, ['address', 'type']) },
              failureReason: text,
              conditions: {
                type: 'array',
                items: object(
                  {
                    type: text,
                    status: text,
                    severity: text,
                    reason: text,
                    message: text,
                    lastTransitionTime: { type: 'string', format: 'date-time' },
                  },
                  ['lastTransitionTime', 'status', 'type'],
                ),
              },
            }),
          }),
        },
      },
    ],
  },
};
export const machine = (size: string, name = 'one'): KubeObject => ({
  apiVersion: DemoMachine.apiVersion,
  kind: 'DemoMachine',
  metadata: { namespace: 'default', name },
  spec: { size },
});
