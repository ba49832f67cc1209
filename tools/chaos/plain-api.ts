// The Kubernetes API through plain HTTPS and JSON, for the checker and the users: without the product's client, and
// without the fault proxies.
import http from 'node:http';
import https from 'node:https';

/** A server and how to authenticate there. */
export type PlainServer = { readonly url: string; readonly ca?: string; readonly token?: string };

/** A response; the body is undefined when it is not JSON. */
export type PlainResponse = { readonly status: number; readonly body: unknown };

/** A client of one server. */
export type PlainApi = {
  /** Rejects when the server does not respond. */
  call(method: string, path: string, body?: object, headers?: http.OutgoingHttpHeaders): Promise<PlainResponse>;
  /** Reads lines until the response ends for any reason, then resolves. Rejects when the server does not respond. */
  follow(
    path: string,
    onLine: (line: string) => void,
    signal: AbortSignal,
    headers?: http.OutgoingHttpHeaders,
  ): Promise<void>;
  close(): void;
};

const timeoutMilliseconds = 15_000;

/** Creates a client. */
export function createPlainApi({ url, ca, token }: PlainServer): PlainApi {
  const base = new URL(url);
  const secure = base.protocol === 'https:';
  const agent = secure
    ? new https.Agent({ keepAlive: true, ...(ca === undefined ? {} : { ca }) })
    : new http.Agent({ keepAlive: true });
  const open = (method: string, path: string, headers: http.OutgoingHttpHeaders, signal?: AbortSignal) =>
    (secure ? https : http).request(new URL(path, base), {
      agent,
      method,
      headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
      ...(signal === undefined ? {} : { signal }),
    });
  const call: PlainApi['call'] = (method, path, body, headers = {}) =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? '' : JSON.stringify(body);
      const sized = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers };
      const request = open(method, path, sized);
      let hasResponse = false;
      request.setTimeout(timeoutMilliseconds, () => request.destroy(new Error(`${method} ${path}: no response`)));
      request.on('error', (error) => {
        // The server closed an idle connection just when it was reused, so it has not received the request.
        const isStale = request.reusedSocket && !hasResponse && 'code' in error && error.code === 'ECONNRESET';
        if (isStale) resolve(call(method, path, body, headers));
        else reject(error);
      });
      request.on('response', (response) => {
        hasResponse = true;
        let content = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          content += part;
        });
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: parse(content) }));
      });
      request.end(text);
    });
  return {
    call,
    follow: (path, onLine, signal, headers = {}) =>
      new Promise((resolve, reject) => {
        const request = open('GET', path, headers, signal);
        request.on('error', reject);
        request.on('response', (response) => {
          let rest = '';
          response.setEncoding('utf8');
          response.on('data', (part: string) => {
            const lines = `${rest}${part}`.split('\n');
            rest = lines.pop() ?? '';
            lines.forEach(onLine);
          });
          response.on('error', () => resolve());
          response.on('close', () => resolve());
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
