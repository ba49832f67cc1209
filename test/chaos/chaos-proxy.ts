// A proxy between a part and its server that breaks what it is told to break. It speaks HTTP on both sides, TLS where the server
// does, and goes down to the socket for a reset. What a rule does is counted, so that a row can prove that its fault fired.
import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { listenHere } from '../support/listen.ts';
import { reset } from './reset.ts';
import { openStreams, type StreamFault, type Streams } from '../../tools/chaos/streams.ts';
import { keepTunnels } from '../../tools/chaos/tunnels.ts';

/** What happens to one request. */
export type Fault =
  /** The server never sees it. */
  | {
      readonly type: 'answer';
      readonly status: number;
      readonly headers?: http.OutgoingHttpHeaders;
      readonly body?: string;
    }
  /** RST, and the server never sees it. */
  | { readonly type: 'reset' }
  /** The server acts and answers; the answer is lost, and the connection with it. */
  | { readonly type: 'swallow' /** Called between the two. */; readonly acted?: () => void }
  /** The server acts and answers; half of the answer is heard, then the connection is lost. Not for watches, which never end. */
  | { readonly type: 'halve' }
  /** The server sees it later. */
  | { readonly type: 'delay'; readonly milliseconds: number }
  /** The server sees further requests, too; what it answers to them is dropped. */
  | { readonly type: 'repeat'; readonly bodies: readonly string[] };

/** A request as a rule sees it. */
export type Asked = {
  readonly method: string;
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
};

/** Decides about a request; undefined lets it pass. */
export type Rule = (asked: Asked) => Fault | undefined;

/** Where the server is, and what the proxy shows of itself. */
export type Upstream = {
  readonly url: string;
  /** PEM of the server's authority. */
  readonly ca?: string;
  /** PEM of what the proxy shows; without it the proxy speaks plain HTTP. */
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** Part of the URLs of the watches that matter: what is done to others proves nothing. Default: all matter. */
  readonly subject?: string;
  /** Told of every request, whatever a rule does to it. */
  readonly onAsked?: (asked: Asked) => void;
};

/** A proxy that runs. */
export type ChaosProxy = {
  readonly url: string;
  /** Sets the rule, or heals with none. */
  rule(rule?: Rule): void;
  /** Does something to every watch that is open now, and tells to how many. */
  breakStreams(fault: StreamFault): number;
  /** How often rules and stream faults really did something since the last call. */
  fired(): number;
  /** How often the server itself has said 410 since the last call. */
  gone(): number;
  /** How many watches that matter are open and well. */
  watching(): number;
  close(): Promise<void>;
};

/** Starts a proxy on loopback. */
export async function startChaosProxy({ url, ca, certificate, subject = '', onAsked }: Upstream): Promise<ChaosProxy> {
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

  const onward = ({ method, url: path, headers, body }: Asked): http.ClientRequest => {
    const { 'transfer-encoding': _, expect: __, ...rest } = headers;
    const asked = (secure ? https : http).request({
      ...{ agent, hostname: target.hostname, port: target.port, method, path },
      headers: { ...rest, host: target.host, 'content-length': String(Buffer.byteLength(body)) },
    });
    asked.end(body);
    return asked;
  };

  const pass = (asked: Asked, response: http.ServerResponse): void => {
    const request = onward(asked);
    const isWatch = /[?&]watch=(true|1)/.test(asked.url);
    request.on('response', (answer) => {
      if (answer.statusCode === 410) onGone();
      const { 'transfer-encoding': _, connection: __, ...headers } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, headers);
      response.flushHeaders();
      if (isWatch && answer.statusCode === 200) streams.carry(asked.url, answer, response);
      else answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    // Nobody answered; to whoever asked it looks the same.
    request.on('error', () => reset(response.socket));
    response.on('close', () => request.destroy());
  };

  const swallow = (asked: Asked, socket: Socket | null, acted: () => void = () => undefined): void => {
    const request = onward(asked);
    const lose = () => reset(socket);
    request.on('response', (answer) => {
      acted();
      answer.resume().on('end', lose).on('error', lose);
    });
    request.on('error', lose);
  };

  const halve = (asked: Asked, response: http.ServerResponse): void => {
    const request = onward(asked);
    const lose = () => reset(response.socket);
    request.on('error', lose);
    request.on('response', (answer) => {
      const chunks: Buffer[] = [];
      answer.on('error', lose);
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const whole = Buffer.concat(chunks);
        const { 'transfer-encoding': _, connection: __, ...headers } = answer.headers;
        response.writeHead(answer.statusCode ?? 502, { ...headers, 'content-length': whole.length });
        response.write(whole.subarray(0, whole.length / 2), lose);
      });
    });
  };

  const serve = (asked: Asked, response: http.ServerResponse): void => {
    onAsked?.(asked);
    const fault = rule(asked);
    if (fault === undefined) {
      pass(asked, response);
      return;
    }
    fired += 1;
    if (fault.type === 'reset') reset(response.socket);
    else if (fault.type === 'halve') halve(asked, response);
    else if (fault.type === 'swallow') swallow(asked, response.socket, fault.acted);
    else if (fault.type === 'answer') {
      response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers }).end(fault.body ?? '');
    } else if (fault.type === 'delay') setTimeout(() => pass(asked, response), fault.milliseconds);
    else {
      for (const body of fault.bodies) {
        onward({ ...asked, body })
          .on('response', (answer) => answer.resume())
          .on('error', () => undefined);
      }
      pass(asked, response);
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
    // There is no half-way with these: whatever a rule says that is not a delay cuts them.
    if (fault === undefined || fault.type === 'delay') tunnels.open(request, socket, head);
    else {
      fired += 1;
      socket.destroy();
    }
  });
  const port = await listenHere(server);
  return {
    url: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    rule: (next = () => undefined) => {
      rule = next;
    },
    breakStreams: (fault) => streams.strike(fault),
    fired: () => {
      const count = fired;
      fired = 0;
      return count;
    },
    gone: () => {
      const count = gone;
      gone = 0;
      return count;
    },
    watching: () => streams.well(subject),
    close: async () => {
      server.closeAllConnections();
      tunnels.close();
      await new Promise((resolve) => server.close(resolve));
      agent.destroy();
    },
  };
}
