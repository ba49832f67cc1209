// Upgrades of HTTP connections to WebSocket, for commands in pods. A request that cannot be upgraded gets an ordinary
// response from handler.ts.
import type { IncomingMessage } from 'node:http';
import { type AllowedHosts, foreignRequest } from '@outrigger/common/http/foreign-request';
import type { Identify } from '../admission/user.ts';
import { createExecSessions, type RequestedExec, type Upgrade } from '../exec/exec-sessions.ts';
import type { Execute } from '../exec/execute.ts';
import { acceptedExec } from '../exec/pods-exec.ts';
import type { ServerState } from '../server-state.ts';
import { requestUrl } from './answering.ts';
import { createExchange } from './exchange.ts';
import type { RequestRecord } from './handler.ts';
import { findRoute } from './route.ts';

/** The upgrade handling of one server. */
export type Upgrades = {
  /** Returns whether a request can be passed to `open`. */
  accepts(request: IncomingMessage): boolean;
  open(upgrade: Upgrade): void;
  /** Closes every upgraded connection. */
  close(): void;
};

const switchingProtocols = 101;

/** Creates the upgrade handling of a server. `onRequest` is called with every upgraded request. */
export function createUpgrades(
  state: ServerState,
  execute: Execute,
  {
    onRequest,
    identify,
    allowedHosts = [],
  }: AllowedHosts & {
    readonly onRequest: (record: RequestRecord) => void;
    readonly identify: Identify | undefined;
  },
): Upgrades {
  const sessions = createExecSessions(execute);
  const requestedExec = (request: IncomingMessage): RequestedExec | undefined => {
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') return undefined;
    if (foreignRequest(request.headers, { allowedHosts }) !== undefined) return undefined;
    const url = requestUrl(request);
    if (url === undefined) return undefined;
    const exchange = createExchange(request, url, identify);
    return acceptedExec(state, findRoute(state.registry, exchange.path), exchange);
  };
  return {
    accepts: (request) => requestedExec(request) !== undefined,
    open(upgrade) {
      const requested = requestedExec(upgrade.request);
      const url = requestUrl(upgrade.request);
      if (requested === undefined || url === undefined) {
        upgrade.socket.destroy();
        return;
      }
      const { method, path, query, userAgent } = createExchange(upgrade.request, url, identify);
      onRequest({ method, path, query: Object.fromEntries(query), userAgent, status: switchingProtocols });
      sessions.open(upgrade, requested);
    },
    close: () => sessions.close(),
  };
}
