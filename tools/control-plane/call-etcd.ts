// etcd's JSON gateway, which every etcd serves next to gRPC: a few calls need no client library. Keys and values are
// base64.
import { request } from 'node:http';

const timeoutMilliseconds = 30_000;

/** Calls the etcd that listens on a socket. Rejects for any response other than 200. */
export function callEtcd(socketPath: string, path: string, body: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, path, method: 'POST', timeout: timeoutMilliseconds }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200) resolve(JSON.parse(text));
        else reject(new Error(`etcd returned ${response.statusCode} for ${path}: ${text}`));
      });
    });
    call.on('timeout', () => call.destroy(new Error(`etcd did not respond to ${path}`)));
    call.on('error', reject);
    call.end(JSON.stringify(body));
  });
}
