// Every request comes in here and becomes an answer: routed, worked on, and every refusal turned into a Status, in this one place.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { discovery, REVIEWS } from '../discovery/discovery.ts';
import { openapi } from '../discovery/openapi.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { acceptsAggregatedDiscovery } from '../read/media-type.ts';
import { internalError, StatusError, statusOf } from '../status-error.ts';
import type { World } from '../server-state.ts';
import { type Answer, createExchange, type Exchange, readBody } from './exchange.ts';
import { findRoute } from '../../local/api-server/http/route.ts';
import { answer, PAGE_NOT_FOUND } from './verbs.ts';
import { isWatch, streamWatch } from './watch-stream.ts';

/** One answered request, as tests count them. */
export interface RequestRecord {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly userAgent: string;
  readonly status: number;
}

/** What a handler needs beside the world. */
export interface HandlerOptions {
  readonly bookmarkSeconds: number;
  /** Called with every request when its status is known, watches when they begin. */
  readonly onRequest: (record: RequestRecord) => void;
}

const HEALTHY: readonly string[] = ['/healthz', '/livez', '/readyz'];
const VERSION = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.0-outrigger',
  gitTreeState: 'clean',
  goVersion: '',
  compiler: '',
  platform: '',
};
const JSON_TYPE = 'application/json';
const DISCOVERY_TYPE = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Creates the function that answers requests. */
export function createHandler(
  world: World,
  { bookmarkSeconds, onRequest }: HandlerOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    const exchange = createExchange(request);
    const { method, path, query, userAgent } = exchange;
    const asked = Object.fromEntries(query);
    const told = (status: number): void => onRequest({ method, path, query: asked, userAgent, status });
    try {
      const route = findRoute(world.registry, path);
      if (route !== undefined && isWatch(exchange) && route.subresource === '') {
        streamWatch(world, route, exchange, response, bookmarkSeconds);
        told(200);
        return;
      }
      const done = route === undefined ? await answerElse(world, exchange) : await answer(world, route, exchange);
      told(done.status);
      send(response, done, exchange);
    } catch (error) {
      const refusal = error instanceof StatusError ? error : internalError(String(error));
      told(refusal.code);
      send(response, { status: refusal.code, body: statusOf(refusal) }, exchange);
    }
  };
}

/** What is no collection: health, version, discovery, OpenAPI, and the one question that is always answered yes. */
async function answerElse(world: World, exchange: Exchange): Promise<Answer> {
  const { path, method, accept } = exchange;
  if (path === `/apis/${REVIEWS.group}/${REVIEWS.version}/${REVIEWS.plural}` && method === 'POST') {
    return { status: 201, body: reviewed(await readReview(exchange, world)) };
  }
  if (method !== 'GET') return PAGE_NOT_FOUND;
  if (HEALTHY.includes(path)) return { status: 200, body: 'ok' };
  if (path === '/version') return { status: 200, body: VERSION };
  const all = world.registry.all();
  const aggregated = acceptsAggregatedDiscovery(accept);
  const found = discovery(all, path, aggregated) ?? openapi(world.schemas, all, path);
  return found === undefined ? PAGE_NOT_FOUND : { status: 200, body: found };
}

/** The review itself is not looked at, so one in protobuf need not be read. */
async function readReview(exchange: Exchange, { schemas }: World): Promise<Json> {
  return exchange.contentType.includes('protobuf') ? {} : readBody(exchange, schemas, { kind: REVIEWS.kind });
}

function reviewed(review: Json): JsonObject {
  const { kind, group, version } = REVIEWS;
  const sent = isObject(review) ? review : {};
  return { metadata: {}, spec: {}, ...sent, kind, apiVersion: `${group}/${version}`, status: { allowed: true } };
}

function send(response: ServerResponse, { status, body }: Answer, { warnings }: Exchange): void {
  if (response.destroyed) return;
  const isText = typeof body === 'string';
  const aggregated = !isText && body.kind === 'APIGroupDiscoveryList';
  const bytes = Buffer.from(isText ? body : `${JSON.stringify(body)}\n`);
  for (const text of warnings) response.appendHeader('warning', `299 - "${text.replaceAll(/["\\]/g, '\\$&')}"`);
  response.writeHead(status, {
    'content-type': isText ? 'text/plain; charset=utf-8' : aggregated ? DISCOVERY_TYPE : JSON_TYPE,
    'content-length': bytes.length,
    'cache-control': 'no-cache, private',
  });
  response.end(bytes);
}
