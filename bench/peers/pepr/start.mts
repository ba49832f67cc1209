// What Pepr's own controller.js does, which runs in its image alone: the module's store gets its definition, then the module is run. That
// is what `pepr build` made of pepr.ts, in the environment of the watch controller's Deployment that was made with it.
import { K8s, kind } from 'kubernetes-fluent-client';

const names = { plural: 'peprstores', singular: 'peprstore', kind: 'PeprStore' };
const definition = `${names.plural}.pepr.dev`;
const data = { type: 'object', additionalProperties: { type: 'string' } };
const schema = { openAPIV3Schema: { type: 'object', properties: { data } } };
const versions = [{ name: 'v1', served: true, storage: true, schema }];

await K8s(kind.Namespace).Apply({ metadata: { name: 'pepr-system' } });
await K8s(kind.CustomResourceDefinition).Apply(
  { metadata: { name: definition }, spec: { group: 'pepr.dev', scope: 'Namespaced', names, versions } },
  { force: true },
);
// Later than Pepr does it, which has a Deployment that is restarted until there is a store.
for (;;) {
  const { status } = await K8s(kind.CustomResourceDefinition).Get(definition);
  if (status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')) break;
  await new Promise((resolve) => setTimeout(resolve, 100));
}
await import('./dist/pepr-bench.js');
