// Compacts an etcd over its JSON gateway, which every etcd serves beside gRPC: no client of our own is needed for two calls.
import { request } from 'node:http';

const timeoutMilliseconds = 30_000;

/** Makes the etcd that listens on a socket forget every version before its present one. Rejects when it does not. */
export async function compactEtcd(socketPath: string): Promise<void> {
  // Keys and values are base64; any key will do to be told the revision.
  const { header } = Object(await call(socketPath, '/v3/kv/range', { key: 'eA==' }));
  const { revision } = Object(header);
  await call(socketPath, '/v3/kv/compaction', { revision, physical: true });
}

function call(socketPath: string, path: string, body: object): Promise<unknown> {
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
