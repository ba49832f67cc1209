// The entry point of all HTTP requests: it routes a request, calls the verb, and sends the response. Errors become
// Status responses here and nowhere else.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Identify, User } from '../admission/user.ts';
import { discovery, reviewKind } from '../discovery/discovery.ts';
import { openapi, openapiV2 } from '../discovery/openapi.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { acceptsAggregatedDiscovery } from '../read/media-type.ts';
import type { ServerState } from '../server-state.ts';
import { internalError, StatusError, statusOf } from '../status-error.ts';
import type { Responder } from './answering.ts';
import { createExchange, type Exchange, type HttpResponse, readRequestBody } from './exchange.ts';
import { findRoute } from './route.ts';
import { handleRequest, pageNotFound } from './verbs.ts';
import { isWatch, streamWatch } from './watch-stream.ts';

/** One request and the status of its response, for tests that count requests. */
export type RequestRecord = {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly userAgent: string;
  readonly status: number;
};

/** Options of a handler. */
export type HandlerOptions = {
  readonly bookmarkSeconds: number;
  /** Called with every request once its status is known. A watch is reported when it starts. */
  readonly onRequest: (record: RequestRecord) => void;
  readonly identify: Identify | undefined;
};

const healthPaths: readonly string[] = ['/healthz', '/livez', '/readyz'];
const versionInfo = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.0-outrigger',
  gitTreeState: 'clean',
  goVersion: '',
  compiler: '',
  platform: '',
};
const jsonType = 'application/json';
const discoveryType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Creates the function that handles requests. */
export function createHandler(state: ServerState, { bookmarkSeconds, onRequest, identify }: HandlerOptions): Responder {
  return async (request, response, url) => {
    const exchange = createExchange(request, url, identify);
    const { method, path, query, userAgent } = exchange;
    const parameters = Object.fromEntries(query);
    const report = (status: number): void => onRequest({ method, path, query: parameters, userAgent, status });
    try {
      const route = findRoute(state.registry, path);
      const deprecation = route?.resource.deprecation;
      if (deprecation !== undefined) exchange.warnings.push(deprecation);
      if (route !== undefined && isWatch(exchange) && route.name === undefined) {
        streamWatch(state, route, exchange, response, bookmarkSeconds);
        report(200);
        return;
      }
      const result =
        route === undefined ? await handleNonResource(state, exchange) : await handleRequest(state, route, exchange);
      report(result.status);
      send(response, result, exchange);
    } catch (error) {
      const statusError = error instanceof StatusError ? error : internalError(String(error));
      report(statusError.code);
      send(response, { status: statusError.code, body: statusOf(statusError) }, exchange);
    }
  };
}

/**
 * Handles all paths that are no collection: health, version, discovery, OpenAPI, and SelfSubjectAccessReview (always
 * allowed).
 */
async function handleNonResource(state: ServerState, exchange: Exchange): Promise<HttpResponse> {
  const { path, method, accept } = exchange;
  if (path === `/apis/${reviewKind.group}/${reviewKind.version}/${reviewKind.plural}` && method === 'POST') {
    return { status: 201, body: allowedReview(await readReview(exchange, state)) };
  }
  const review = method === 'POST' ? reviewOf(path, exchange.user) : undefined;
  if (review !== undefined) return { status: 201, body: review };
  if (method !== 'GET') return pageNotFound;
  if (healthPaths.includes(path)) return { status: 200, body: 'ok' };
  if (path === '/version') return { status: 200, body: versionInfo };
  if (path === '/openapi/v2') {
    const { text, type } = openapiV2(accept);
    return { status: 200, body: text, type };
  }
  const all = state.registry.all();
  const aggregated = acceptsAggregatedDiscovery(accept);
  const found = discovery(all, path, aggregated) ?? openapi(state.schemas, all, path);
  return found === undefined ? pageNotFound : { status: 200, body: found };
}

const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };

/** The reviews of `kubectl auth whoami` and `kubectl auth can-i --list`: every user may do everything. */
function reviewOf(path: string, userInfo: User): JsonObject | undefined {
  if (path === '/apis/authentication.k8s.io/v1/selfsubjectreviews') {
    const [kind, apiVersion] = ['SelfSubjectReview', 'authentication.k8s.io/v1'];
    return { kind, apiVersion, metadata: {}, status: { userInfo } };
  }
  if (path === '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews') {
    const [kind, apiVersion] = ['SelfSubjectRulesReview', 'authorization.k8s.io/v1'];
    const nonResourceRules = [{ verbs: ['*'], nonResourceURLs: ['*'] }];
    const status = { resourceRules: [everything], nonResourceRules, incomplete: false };
    return { kind, apiVersion, metadata: {}, spec: {}, status };
  }
  return undefined;
}

/** Reads the review. Its content does not matter, so a body in protobuf is not decoded. */
async function readReview(exchange: Exchange, { schemas }: ServerState): Promise<Json> {
  return exchange.contentType.includes('protobuf') ? {} : readRequestBody(exchange, schemas, { kind: reviewKind.kind });
}

function allowedReview(review: Json): JsonObject {
  const { kind, group, version } = reviewKind;
  const sent = isObject(review) ? review : {};
  return { metadata: {}, spec: {}, ...sent, kind, apiVersion: `${group}/${version}`, status: { allowed: true } };
}

/** kube-apiserver compresses responses of this size and more, with the fastest level (KEP-156). */
const gzipBytes = 128 * 1024;

function isLargeRest({ complete, headers }: IncomingMessage): boolean {
  return !complete && Number(headers['content-length'] ?? 0) > 256 * 1024;
}

function send(
  response: ServerResponse,
  { status, body, type = 'text/plain; charset=utf-8' }: HttpResponse,
  exchange: Exchange,
): void {
  if (response.destroyed) return;
  const isText = typeof body === 'string';
  const aggregated = !isText && body.kind === 'APIGroupDiscoveryList';
  const plain = Buffer.from(isText ? body : `${JSON.stringify(body)}\n`);
  const isCompressed = exchange.method === 'GET' && exchange.acceptsGzip && plain.length >= gzipBytes;
  const bytes = isCompressed ? gzipSync(plain, { level: 1 }) : plain;
  for (const text of exchange.warnings)
    response.appendHeader('warning', `299 - "${text.replaceAll(/["\\]/g, '\\$&')}"`);
  response.writeHead(status, {
    'content-type': isText ? type : aggregated ? discoveryType : jsonType,
    'content-length': bytes.length,
    ...(isCompressed ? { 'content-encoding': 'gzip', vary: 'Accept-Encoding' } : {}),
    'cache-control': 'no-cache, private',
    // Go's server reads what is left of a small body, and no more.
    ...(isLargeRest(response.req) ? { connection: 'close' } : {}),
  });
  response.end(bytes);
}
