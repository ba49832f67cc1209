// The kinds of the jobs, as in Pepr's user guide (https://docs.pepr.dev/user-guide/generating-crds/).
import { a, RegisterKind } from 'pepr';

export class Ping extends a.GenericKind {
  declare spec?: { value: number };
  declare status?: { observed?: number };
}

export class Slow extends a.GenericKind {
  declare spec?: { value: number };
  declare status?: { observed?: number };
}

export class Foo extends a.GenericKind {
  declare spec?: { deploymentName: string; replicas: number };
  declare status?: { availableReplicas?: number; observedGeneration?: number };
}

RegisterKind(Ping, { group: 'bench.example.com', version: 'v1', kind: 'Ping', plural: 'pings' });
RegisterKind(Slow, { group: 'bench.example.com', version: 'v1', kind: 'Slow', plural: 'slows' });
RegisterKind(Foo, { group: 'samples.example.com', version: 'v1', kind: 'Foo', plural: 'foos' });
