// The Kubernetes API by plain https and JSON, for the judge and for whoever makes the changes: nothing of the product's client
// is in it, and it goes to the server itself, past every fault.
import http from 'node:http';
import https from 'node:https';

/** Where a server is and how it lets us in. */
export type PlainServer = { readonly url: string; readonly ca?: string; readonly token?: string };

/** An answer; the body is undefined when it was not JSON. */
export type PlainAnswer = { readonly status: number; readonly body: unknown };

/** Calls one server. */
export type PlainApi = {
  /** Rejects when nobody answers. */
  call(method: string, path: string, body?: object, headers?: http.OutgoingHttpHeaders): Promise<PlainAnswer>;
  /** Reads lines until the answer ends, however it does; resolves then. Rejects when nobody answers. */
  follow(
    path: string,
    onLine: (line: string) => void,
    signal: AbortSignal,
    headers?: http.OutgoingHttpHeaders,
  ): Promise<void>;
  close(): void;
};

const timeoutMilliseconds = 15_000;

/** Creates a caller. */
export function createPlainApi({ url, ca, token }: PlainServer): PlainApi {
  const base = new URL(url);
  const secure = base.protocol === 'https:';
  const agent = secure
    ? new https.Agent({ keepAlive: true, ...(ca === undefined ? {} : { ca }) })
    : new http.Agent({ keepAlive: true });
  const open = (method: string, path: string, headers: http.OutgoingHttpHeaders, signal?: AbortSignal) =>
    (secure ? https : http).request(new URL(path, base), {
      ...{
        agent,
        method,
        headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
      },
      ...(signal === undefined ? {} : { signal }),
    });
  const call: PlainApi['call'] = (method, path, body, headers = {}) =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? '' : JSON.stringify(body);
      const sized = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers };
      const request = open(method, path, sized);
      let isHeard = false;
      request.setTimeout(timeoutMilliseconds, () => request.destroy(new Error(`${method} ${path}: no answer`)));
      request.on('error', (error) => {
        // The server was tired of an idle connection just when it was used again: nobody has seen the request.
        const isStale = request.reusedSocket && !isHeard && 'code' in error && error.code === 'ECONNRESET';
        if (isStale) resolve(call(method, path, body, headers));
        else reject(error);
      });
      request.on('response', (answer) => {
        isHeard = true;
        let heard = '';
        answer.setEncoding('utf8');
        answer.on('data', (part: string) => {
          heard += part;
        });
        answer.on('error', reject);
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: parse(heard) }));
      });
      request.end(text);
    });
  return {
    call,
    follow: (path, onLine, signal, headers = {}) =>
      new Promise((resolve, reject) => {
        const request = open('GET', path, headers, signal);
        request.on('error', reject);
        request.on('response', (answer) => {
          let rest = '';
          answer.setEncoding('utf8');
          answer.on('data', (part: string) => {
            const lines = `${rest}${part}`.split('\n');
            rest = lines.pop() ?? '';
            lines.forEach(onLine);
          });
          answer.on('error', () => resolve());
          answer.on('close', () => resolve());
        });
        request.end();
      }),
    close: () => agent.destroy(),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
