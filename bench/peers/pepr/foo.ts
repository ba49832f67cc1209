// Foo: its Deployment, and its available replicas in the status, as in the operator of Pepr's tutorial
// (https://docs.pepr.dev/tutorials/create-pepr-operator/): an observed generation is skipped, children are applied,
// have a label, and are applied again when they are deleted.
import { a, Capability, K8s } from 'pepr';
import { Foo } from './kinds';

const label = 'samples.example.com/foo';
/** The last written status of each Foo, so that an event of a Deployment without a change causes no write. */
const reported = new Map<string, number | undefined>();

export const foo = new Capability({ name: 'foo', description: 'a Deployment for each Foo', namespaces: [] });

foo
  .When(Foo)
  .IsCreatedOrUpdated()
  .Reconcile(async (instance) => {
    const { name, namespace, generation } = instance.metadata ?? {};
    reported.set(`${namespace}/${name}`, instance.status?.availableReplicas);
    if (instance.status?.observedGeneration === generation) return;
    const deployment = await deploy(instance);
    await report(namespace, name, deployment.status?.availableReplicas ?? 0, generation);
  });

foo
  .When(a.Deployment)
  .IsCreatedOrUpdated()
  .WithLabel(label)
  .Reconcile(async ({ metadata, status }) => {
    const [namespace, name] = [metadata?.namespace, metadata?.labels?.[label]];
    const known = reported.get(`${namespace}/${name}`);
    const availableReplicas = status?.availableReplicas ?? 0;
    if (known !== undefined && known !== availableReplicas) await report(namespace, name, availableReplicas);
  });

foo
  .When(a.Deployment)
  .IsDeleted()
  .WithLabel(label)
  .Watch(async ({ metadata }) => {
    await deploy(
      await K8s(Foo)
        .InNamespace(metadata?.namespace ?? '')
        .Get(metadata?.labels?.[label] ?? ''),
    );
  });

async function report(
  namespace = '',
  name = '',
  availableReplicas: number,
  observedGeneration?: number,
): Promise<void> {
  const status = { availableReplicas, ...(observedGeneration === undefined ? {} : { observedGeneration }) };
  await K8s(Foo).PatchStatus({ metadata: { name, namespace }, status });
}

async function deploy({ metadata, spec }: Foo): Promise<a.Deployment> {
  const { name = '', namespace = '', uid = '' } = metadata ?? {};
  const labels = { app: 'nginx', controller: name };
  const owner = {
    apiVersion: 'samples.example.com/v1',
    kind: 'Foo',
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  return await K8s(a.Deployment).Apply(
    {
      metadata: { name: spec?.deploymentName, namespace, labels: { [label]: name }, ownerReferences: [owner] },
      spec: {
        replicas: spec?.replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'nginx', image: 'nginx:latest' }] } },
      },
    },
    { force: true },
  );
}
