// A proxy between a client and its server that injects faults. It speaks HTTP on both sides (TLS if the server does)
// and uses the socket for a reset. It counts the faults that took effect, so a row can verify that its fault occurred.
import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { listenOnLoopback } from '../../test/support/listen.ts';
import { openStreams, reset, type StreamFault, type Streams } from './streams.ts';
import { keepTunnels } from './tunnels.ts';

/** What happens to one request. */
export type Fault =
  /** The proxy responds; the server does not receive the request. */
  | {
      readonly type: 'respond';
      readonly status: number;
      readonly headers?: http.OutgoingHttpHeaders;
      readonly body?: string;
    }
  /** RST; the server does not receive the request. */
  | { readonly type: 'reset' }
  /** The server executes the request and responds; the response is dropped and the connection is reset. */
  | { readonly type: 'drop-response' /** Called when the server has responded. */; readonly onExecuted?: () => void }
  /**
   * The server executes the request and responds; the client receives half of the response, then the connection is
   * reset. Not for watches, whose responses do not end.
   */
  | { readonly type: 'truncate' }
  /** The server receives the request later. */
  | { readonly type: 'delay'; readonly milliseconds: number }
  /** The server receives the request when the promise resolves. */
  | { readonly type: 'hold'; readonly until: Promise<void> }
  /** The server also receives these further requests; their responses are dropped. */
  | { readonly type: 'repeat'; readonly bodies: readonly string[] };

/** A request as a rule receives it. */
export type ProxiedRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
};

/** Returns the fault for a request; undefined forwards it unchanged. */
export type Rule = (request: ProxiedRequest) => Fault | undefined;

/** The server, and the certificate of the proxy. */
export type Upstream = {
  readonly url: string;
  /** PEM of the server's certificate authority. */
  readonly ca?: string;
  /** PEM of the proxy's certificate; without it the proxy speaks plain HTTP. */
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** Part of the URLs of the relevant watches: faults of other watches are not counted. Default: all watches. */
  readonly subject?: string;
  /** Called for every request, with or without a fault. */
  readonly onRequest?: (request: ProxiedRequest) => void;
};

/** A running proxy. */
export type ChaosProxy = {
  readonly url: string;
  /** Sets the rule; without an argument, removes it. */
  rule(rule?: Rule): void;
  /** Injects a fault into every open watch, and returns the number of watches. */
  breakStreams(fault: StreamFault): number;
  /** Returns how many faults took effect since the last call. */
  firedCount(): number;
  /** Returns how many responses and events with 410 came from the server since the last call. */
  goneCount(): number;
  /** The number of open relevant watches without a fault. */
  healthyWatches(): number;
  close(): Promise<void>;
};

/** Starts a proxy on the loopback address. */
export async function startChaosProxy({
  url,
  ca,
  certificate,
  subject = '',
  onRequest,
}: Upstream): Promise<ChaosProxy> {
  const target = new URL(url);
  const secure = target.protocol === 'https:';
  const agent = secure
    ? new https.Agent({ keepAlive: true, ...(ca === undefined ? {} : { ca }) })
    : new http.Agent({ keepAlive: true });
  let rule: Rule = () => undefined;
  let fired = 0;
  let gone = 0;
  const onGone = () => {
    gone += 1;
  };
  const streams: Streams = openStreams({
    onFired: (watch) => {
      if (watch.includes(subject)) fired += 1;
    },
    onGone,
  });

  const forwardRequest = ({ method, url: path, headers, body }: ProxiedRequest): http.ClientRequest => {
    const { 'transfer-encoding': _, expect: __, ...rest } = headers;
    const original = (secure ? https : http).request({
      agent,
      hostname: target.hostname,
      port: target.port,
      method,
      path,
      headers: { ...rest, host: target.host, 'content-length': String(Buffer.byteLength(body)) },
    });
    original.end(body);
    return original;
  };

  const forward = (original: ProxiedRequest, response: http.ServerResponse): void => {
    const request = forwardRequest(original);
    request.on('response', (upstreamResponse) => {
      if (upstreamResponse.statusCode === 410) onGone();
      const { 'transfer-encoding': _, connection: __, ...headers } = upstreamResponse.headers;
      response.writeHead(upstreamResponse.statusCode ?? 502, headers);
      response.flushHeaders();
      if (isWatch(original) && upstreamResponse.statusCode === 200)
        streams.forward(original.url, upstreamResponse, response);
      else upstreamResponse.pipe(response);
      upstreamResponse.on('error', () => response.destroy());
    });
    // The server did not respond. For the client this is a reset connection too.
    request.on('error', () => reset(response.socket));
    response.on('close', () => request.destroy());
  };

  const dropResponse = (
    original: ProxiedRequest,
    socket: Socket | null,
    onExecuted: () => void = () => undefined,
  ): void => {
    const request = forwardRequest(original);
    const resetClient = () => reset(socket);
    request.on('response', (upstreamResponse) => {
      onExecuted();
      upstreamResponse.resume().on('end', resetClient).on('error', resetClient);
    });
    request.on('error', resetClient);
  };

  const truncateResponse = (original: ProxiedRequest, response: http.ServerResponse): void => {
    const request = forwardRequest(original);
    const resetClient = () => reset(response.socket);
    request.on('error', resetClient);
    request.on('response', (upstreamResponse) => {
      const chunks: Buffer[] = [];
      upstreamResponse.on('error', resetClient);
      upstreamResponse.on('data', (chunk: Buffer) => chunks.push(chunk));
      upstreamResponse.on('end', () => {
        const content = Buffer.concat(chunks);
        const { 'transfer-encoding': _, connection: __, ...headers } = upstreamResponse.headers;
        response.writeHead(upstreamResponse.statusCode ?? 502, { ...headers, 'content-length': content.length });
        response.write(content.subarray(0, content.length / 2), resetClient);
      });
    });
  };

  const serve = (original: ProxiedRequest, response: http.ServerResponse): void => {
    onRequest?.(original);
    const fault = rule(original);
    if (fault === undefined) {
      forward(original, response);
      return;
    }
    fired += 1;
    if (fault.type === 'reset') reset(response.socket);
    else if (fault.type === 'truncate') truncateResponse(original, response);
    else if (fault.type === 'drop-response') dropResponse(original, response.socket, fault.onExecuted);
    else if (fault.type === 'respond') {
      response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers }).end(fault.body ?? '');
    } else if (fault.type === 'delay') setTimeout(() => forward(original, response), fault.milliseconds);
    else if (fault.type === 'hold') void fault.until.then(() => forward(original, response));
    else {
      for (const body of fault.bodies) {
        forwardRequest({ ...original, body })
          .on('response', (upstreamResponse) => upstreamResponse.resume())
          .on('error', () => undefined);
      }
      forward(original, response);
    }
  };

  const listener: http.RequestListener = (request, response) => {
    const { method = 'GET', url: path = '/', headers } = request;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => serve({ method, url: path, headers, body: Buffer.concat(chunks).toString() }, response));
    request.on('error', () => response.destroy());
  };
  const server = certificate === undefined ? http.createServer(listener) : https.createServer(certificate, listener);
  const tunnels = keepTunnels({ url: target, ...(ca === undefined ? {} : { ca }) });
  server.on('upgrade', (request, socket, head) => {
    const { method = 'GET', url: path = '/', headers } = request;
    const fault = rule({ method, url: path, headers, body: '' });
    // An upgraded connection has no single response: every fault other than a delay closes it.
    if (fault === undefined || fault.type === 'delay' || fault.type === 'hold') tunnels.open(request, socket, head);
    else {
      fired += 1;
      socket.destroy();
    }
  });
  const port = await listenOnLoopback(server);
  return {
    url: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    rule: (next = () => undefined) => {
      rule = next;
    },
    breakStreams: (fault) => streams.inject(fault),
    firedCount: () => {
      const count = fired;
      fired = 0;
      return count;
    },
    goneCount: () => {
      const count = gone;
      gone = 0;
      return count;
    },
    healthyWatches: () => streams.healthyCount(subject),
    close: async () => {
      server.closeAllConnections();
      tunnels.close();
      await new Promise((resolve) => server.close(resolve));
      agent.destroy();
    },
  };
}

/** Tells whether a request opens a watch. */
export function isWatch({ url }: Pick<ProxiedRequest, 'url'>): boolean {
  return /[?&]watch=(true|1)\b/.test(url);
}

/** An answer of that status with its Status object. */
export function statusFault(code: number, reason: string, headers: Readonly<Record<string, string>> = {}): Fault {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason, code };
  return { type: 'respond', status: code, headers, body: JSON.stringify(status) };
}
