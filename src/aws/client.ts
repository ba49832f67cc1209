// Clients of AWS for authors: clients of the AWS SDK that call by the global `fetch`, so that the battery and a dry run
// see each call, and that end with the reconcile.
import { channel } from 'node:diagnostics_channel';
import { FetchHttpHandler } from '@smithy/fetch-http-handler';
import { currentCall } from '../api/current-call.ts';
import { permitsAction } from '../api/permissions.ts';
import { RetryLater, toError } from '../core/errors.ts';
import { type AwsCall, actionsOf, awsCalls, missingPermission } from './calls.ts';

/** Options of a client. */
export type AwsClientOptions = {
  /** Default: the region of the function, by AWS_REGION. */
  readonly region?: string | undefined;
  /** Where AWS is emulated, from a setting; AWS itself if it is empty or absent. */
  readonly endpoint?: string | undefined;
  /** Attempts of a call, the first one included. Default: 2, as a reconcile is retried itself. */
  readonly maxAttempts?: number | undefined;
  /** The time for one attempt, in milliseconds. Default: 5,000. A call ends with the reconcile in any case. */
  readonly requestTimeoutMs?: number | undefined;
};

/** What the constructor of a client of the AWS SDK v3 gets from here. */
type Configuration = {
  readonly region?: string;
  readonly endpoint?: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly maxAttempts: number;
  readonly requestHandler: FetchHttpHandler;
};

/** What is used of a client of the AWS SDK v3. */
type SdkClient = { readonly config: object; readonly middlewareStack: object };
type Args = { readonly input?: unknown; readonly request?: unknown };
type Next = (args: Args) => Promise<unknown>;
type Middleware = (next: Next, context: { readonly commandName?: string }) => Next;
/** Its types differ between the versions of the SDK. */
type Stack = { add(middleware: Middleware, options: { readonly step: 'build'; readonly name: string }): void };

const localRegion = 'us-east-1';
const published = channel(awsCalls);

/**
 * Makes a client of the AWS SDK v3 for `clients` of a controller. With an endpoint on this machine, as in
 * `outrigger dev` and in tests, it signs with credentials that are nobody's.
 * @throws AccessDenied at a call in a reconcile that the controller's `permissions` do not permit, with any endpoint
 * @throws RetryLater at a call that AWS throttles, also after the last attempt of the client
 * @example clients: ({ ROUTE53_ENDPOINT }) => ({ dns: awsClient(Route53Client, { endpoint: ROUTE53_ENDPOINT }) })
 */
export function awsClient<C extends SdkClient>(
  Client: new (configuration: Configuration) => C,
  { region, endpoint, maxAttempts = 2, requestTimeoutMs = 5_000 }: AwsClientOptions = {},
): C {
  const isEmulated = endpoint !== undefined && endpoint !== '';
  const client = new Client({
    maxAttempts,
    requestHandler: new HandlerOfReconciles({ requestTimeout: requestTimeoutMs, keepAlive: true }),
    ...(region === undefined ? {} : { region }),
    ...(isEmulated ? { endpoint, ...emulated(endpoint, region) } : {}),
  });
  const service: unknown = Reflect.get(client.config, 'defaultSigningName');
  const middleware: Middleware = (next, { commandName = '' }) => {
    const operation = commandName.replace(/Command$/, '');
    return async (args) => {
      const { method } = Object(args.request);
      const call: AwsCall = { service: String(service), operation, input: args.input, method };
      published.publish(call);
      if (isEmulated) refuseUnpermitted(call);
      return await next(args).catch((error: unknown) => {
        throw isThrottled(error) ? new RetryLater(1, toError(error).message, { cause: error }) : error;
      });
    };
  };
  (client.middlewareStack as Stack).add(middleware, { step: 'build', name: 'outriggerCall' });
  return client;
}

/** The errors of a service that is asked too often (AWS SDKs and Tools, "Retry behavior"). A quota is none of them. */
function isThrottled(error: unknown): boolean {
  const { name, $metadata } = Object(error);
  const isNamed = /Throttl|TooManyRequests|RequestLimitExceeded|ThroughputExceeded|SlowDown|PriorRequest/.test(name);
  return isNamed || $metadata?.httpStatusCode === 429;
}

/** An emulator permits everything: there a call is refused as the role of the function would refuse it. */
function refuseUnpermitted(call: AwsCall): void {
  const { controller = '', permissions } = currentCall.getStore() ?? {};
  const missing = actionsOf(call).filter((action) => !permissions?.some((one) => permitsAction(one, action)));
  if (permissions === undefined || missing.length === 0) return;
  const denied = new Error(`AWS would refuse ${call.operation} of ${controller}: ${missingPermission(missing)}`);
  throw Object.assign(denied, { name: 'AccessDenied' });
}

/** A request ends when the reconcile does in which it was sent, also if its author passes no signal. */
class HandlerOfReconciles extends FetchHttpHandler {
  override async handle(...[request, options = {}]: Parameters<FetchHttpHandler['handle']>) {
    const signals = [options.abortSignal, currentCall.getStore()?.signal].filter((one) => one instanceof AbortSignal);
    return await super.handle(request, { ...options, abortSignal: AbortSignal.any(signals) });
  }
}

/** Credentials of the machine are not sent to a program that only says that it is AWS. */
function emulated(endpoint: string, region: string | undefined): Pick<Configuration, 'credentials' | 'region'> {
  const isLocal = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(endpoint).hostname);
  if (!isLocal) return {};
  return {
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    ...(region === undefined ? { region: localRegion } : {}),
  };
}
