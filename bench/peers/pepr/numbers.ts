// Ping and Slow: the spec's value is copied to the status.
import { Capability, fetch, K8s } from 'pepr';
import { Ping, Slow } from './kinds';

export const ping = new Capability({ name: 'ping', description: 'status.observed = spec.value', namespaces: [] });

ping
  .When(Ping)
  .IsCreatedOrUpdated()
  .Reconcile(async ({ metadata, spec, status }) => {
    const observed = spec?.value;
    if (status?.observed === observed) return;
    const { name, namespace } = metadata ?? {};
    await K8s(Ping).PatchStatus({ metadata: { name, namespace }, status: { observed } });
  });

export const slow = new Capability({ name: 'slow', description: 'the same, after a call', namespaces: [] });

slow
  .When(Slow)
  .IsCreatedOrUpdated()
  .Reconcile(async ({ metadata, spec, status }) => {
    const observed = spec?.value;
    if (status?.observed === observed) return;
    const { name, namespace } = metadata ?? {};
    const response = await fetch(`${process.env.OUTSIDE_URL}/slow/${namespace}/${name}`);
    if (!response.ok) throw new Error(`outside: ${response.status} ${response.statusText}`);
    await K8s(Slow).PatchStatus({ metadata: { name, namespace }, status: { observed } });
  });
