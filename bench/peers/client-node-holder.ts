// The official client's informer with the bench's objects, a process of its own that keeps them. It uses as little
// memory as possible: plain JSON, without the classes of the typed API.
import { CustomObjectsApi, KubeConfig, type KubernetesObject, makeInformer } from '@kubernetes/client-node';

const [server = '', group = '', version = '', plural = '', wanted = '0'] = process.argv.slice(2);
const config = new KubeConfig();
config.loadFromOptions({
  clusters: [{ name: 'bench', server, skipTLSVerify: true }],
  users: [{ name: 'bench' }],
  contexts: [{ name: 'bench', cluster: 'bench', user: 'bench' }],
  currentContext: 'bench',
});
const api = config.makeApiClient(CustomObjectsApi);
const informer = makeInformer<KubernetesObject>(config, `/apis/${group}/${version}/${plural}`, () =>
  api.listClusterCustomObject({ group, version, plural }),
);
await informer.start();
let objects = 0;
while (objects < Number(wanted)) {
  await new Promise((resolve) => setTimeout(resolve, 100));
  objects = informer.list().length;
}
process.stdout.write(`${JSON.stringify({ objects })}\n`);
