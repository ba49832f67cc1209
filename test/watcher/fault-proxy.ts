// A server between the watcher and SQS that can be told to refuse everything.
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export type MoodyProxy = {
  readonly endpoint: string;
  refuse(refusing: boolean): void;
  stop(): Promise<void>;
};

/** Starts a proxy in front of `target`. */
export async function startMoodyProxy(target: string): Promise<MoodyProxy> {
  let refusing = false;
  const { hostname, port } = new URL(target);
  const server = http.createServer((request, response) => {
    if (refusing) {
      request.resume();
      response.writeHead(503).end();
      return;
    }
    const { method, url: path, headers } = request;
    const passed = http.request({ hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    request.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${portOf(server.address())}`,
    refuse: (now) => {
      refusing = now;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}
