import { startApiServer } from '@outrigger/apiserver';

const server = await startApiServer();
const configMaps = `${server.url}/api/v1/namespaces/default/configmaps`;
const headers = { 'content-type': 'application/json' };
const body = JSON.stringify({ metadata: { name: 'one' }, data: { a: 'b' } });
await fetch(configMaps, { method: 'POST', headers, body });
export const stored = await (await fetch(`${configMaps}/one`)).text();
await server.close();
