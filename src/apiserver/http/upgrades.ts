// Connections that stop being HTTP: commands in pods. Whatever cannot become one is answered like any other request (handler.ts).
import type { IncomingMessage } from 'node:http';
import { execOf } from '../../local/api-server/exec/exec-answer.ts';
import { type Asked, createExecSessions, type Upgrade } from '../../local/api-server/exec/exec-sessions.ts';
import type { Execute } from '../../local/api-server/exec/execute.ts';
import type { World } from '../server-state.ts';
import { createExchange } from './exchange.ts';
import type { RequestRecord } from './handler.ts';
import { findRoute } from '../../local/api-server/http/route.ts';

/** What a server does with requests for another protocol. */
export interface Upgrades {
  /** Tells whether a request is one that `open` takes. */
  takes(request: IncomingMessage): boolean;
  open(upgrade: Upgrade): void;
  /** Cuts every connection. */
  close(): void;
}

const SWITCHING_PROTOCOLS = 101;

/** Creates them. `onRequest` is called with what is opened. */
export function createUpgrades(
  world: World,
  execute: Execute,
  { onRequest }: { readonly onRequest: (record: RequestRecord) => void },
): Upgrades {
  const sessions = createExecSessions(execute);
  const askedBy = (request: IncomingMessage): Asked | undefined => {
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') return undefined;
    const exchange = createExchange(request);
    return execOf(world, findRoute(world.registry, exchange.path), exchange);
  };
  return {
    takes: (request) => askedBy(request) !== undefined,
    open(upgrade) {
      const asked = askedBy(upgrade.request);
      if (asked === undefined) {
        upgrade.socket.destroy();
        return;
      }
      const { method, path, query, userAgent } = createExchange(upgrade.request);
      onRequest({ method, path, query: Object.fromEntries(query), userAgent, status: SWITCHING_PROTOCOLS });
      sessions.open(upgrade, asked);
    },
    close: () => sessions.close(),
  };
}
