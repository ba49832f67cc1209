// The work of Pepr's own controller.js, which runs only in its image: create the definition of the module's store, then
// run the module, which is the result of `pepr build` with pepr.ts, in the environment of the generated watch
// controller's Deployment.
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
// Pepr creates it earlier; its Deployment is restarted until the store exists.
for (;;) {
  const { status } = await K8s(kind.CustomResourceDefinition).Get(definition);
  if (status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')) break;
  await new Promise((resolve) => setTimeout(resolve, 100));
}
await import('./dist/pepr-bench.js');
