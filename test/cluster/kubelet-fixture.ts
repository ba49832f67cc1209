// The test kubelet on the shared control plane, for the namespaces of one file: a new one for each test.
import { afterAll, beforeEach, inject } from 'vitest';
import '../../tools/control-plane/global-setup.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { type KubeletOptions, startKubelet } from '../../tools/kubelet/kubelet.ts';
import { createWire } from '../conformance/wire.ts';
import { type NamespaceFixture, openNamespaceFixture } from '../simulators/workloads/workloads-harness.ts';

/** Starts the kubelet. `close` ends it before the file's tests have ended. */
export async function useKubelet(options: Omit<KubeletOptions, 'acceptsNamespace'>) {
  const { url, ca, adminToken } = inject('controlPlane');
  const server = { url, ca, token: adminToken };
  const wire = createWire(server);
  const client = createClient({ server: new URL(url), ca, token: async () => adminToken });
  const ours = new Set<string>();
  const kubelet = await startKubelet(client, { ...options, acceptsNamespace: (namespace) => ours.has(namespace) });
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= kubelet.close());
  afterAll(async () => {
    await close();
    client.close();
  });
  let fixture: NamespaceFixture;
  beforeEach(async () => {
    fixture = await openNamespaceFixture({ wire });
    ours.add(fixture.namespace);
  });
  return { server, wire, client, kubelet, close, fixture: () => fixture };
}
