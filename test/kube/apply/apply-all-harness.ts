// What the cases of applyAll share: an owner in a namespace of its own, and applyAll for it.
import { type ApplyAllRequest, type ApplyAllResult, applyAll } from '../../../src/kube/apply/apply-all.ts';
import type { DesiredChild } from '../../../src/kube/apply/child-object.ts';
import type { KubeClient, KubeRequest } from '../../../src/kube/client/client.ts';
import type { Connection } from '../../../src/kube/client/connection.ts';
import { interceptRequests } from '../../support/intercept-requests.ts';
import { configMaps, useNamespace } from '../namespace.ts';

/** A ConfigMap to apply. */
export const child = (name: string, values: Record<string, string>): DesiredChild => ({
  metadata: { name },
  data: values,
});

/** Creates an owner for each case of a file. `children`: applies its ConfigMaps, or other children by `change`. */
export function useChildren(connect: () => Connection) {
  const fixture = useNamespace(connect);
  const children = (
    desired: ApplyAllRequest['desired'],
    change: Partial<ApplyAllRequest> = {},
    client: KubeClient = fixture.client,
  ): Promise<ApplyAllResult> =>
    applyAll(client, {
      owner: fixture.owner,
      controllerName: 'cases',
      desired,
      prune: true,
      resource: configMaps,
      apiVersion: 'v1',
      kind: 'ConfigMap',
      ...change,
    });
  /** A client that first does something else before each request with this method. */
  const beforeRequest = (method: string, act: (request: KubeRequest) => Promise<unknown>): KubeClient =>
    interceptRequests(fixture.client, async (request) => {
      if (request.method === method) await act(request);
    });
  const writes = () => fixture.requests.filter((request) => !request.startsWith('GET'));
  return { fixture, children, beforeRequest, writes };
}
