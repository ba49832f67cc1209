// etcd's JSON gateway, which every etcd serves beside gRPC: for a few calls no client is needed. Keys and values are base64.
import { request } from 'node:http';

const timeoutMilliseconds = 30_000;

/** Calls the etcd that listens on a socket. Rejects for any answer but 200. */
export function callEtcd(socketPath: string, path: string, body: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path, method: 'POST', timeout: timeoutMilliseconds }, (answer) => {
      let heard = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => {
        heard += part;
      });
      answer.on('error', reject);
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve(JSON.parse(heard));
        else reject(new Error(`etcd answers ${answer.statusCode} to ${path}: ${heard}`));
      });
    });
    asked.on('timeout', () => asked.destroy(new Error(`etcd does not answer to ${path}`)));
    asked.on('error', reject);
    asked.end(JSON.stringify(body));
  });
}
