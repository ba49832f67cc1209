// Ping and Slow: the status says what the spec says.
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
    const answer = await fetch(`${process.env.OUTSIDE_URL}/slow/${namespace}/${name}`);
    if (!answer.ok) throw new Error(`outside: ${answer.status} ${answer.statusText}`);
    await K8s(Slow).PatchStatus({ metadata: { name, namespace }, status: { observed } });
  });
