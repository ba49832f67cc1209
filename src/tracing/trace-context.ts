// The context of a trace, as it travels with a message: the system attribute AWSTraceHeader in X-Ray's format
// (`Root=1-8hex-24hex;Parent=16hex;Sampled=1`). The ids are those of W3C Trace Context and of OTLP.

/** A span in its trace. */
export type TraceContext = {
  /** 32 hexadecimal digits. The first eight are the seconds since 1970, as X-Ray requires. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly sampled: boolean;
};

/** Returns the context of a header; undefined for none, or for a header without these fields. */
export function parseTraceHeader(header: string | undefined): TraceContext | undefined {
  if (header === undefined) return undefined;
  const fields = new Map(header.split(';').map((field) => field.split('=', 2) as [string, string]));
  const [, time, rest] = /^1-([0-9a-f]{8})-([0-9a-f]{24})$/.exec(fields.get('Root') ?? '') ?? [];
  const [spanId] = /^[0-9a-f]{16}$/.exec(fields.get('Parent') ?? '') ?? [];
  if (time === undefined || rest === undefined || spanId === undefined) return undefined;
  return { traceId: `${time}${rest}`, spanId, sampled: fields.get('Sampled') === '1' };
}

/** Formats a context as a header. */
export function formatTraceHeader({ traceId, spanId, sampled }: TraceContext): string {
  const root = `1-${traceId.slice(0, 8)}-${traceId.slice(8)}`;
  return `Root=${root};Parent=${spanId};Sampled=${sampled ? 1 : 0}`;
}

/** Makes the context of a span that begins a trace. */
export function newTrace(nowMs: number): TraceContext {
  const seconds = Math.floor(nowMs / 1000) % 2 ** 32;
  return { traceId: `${seconds.toString(16).padStart(8, '0')}${randomHex(12)}`, spanId: randomHex(8), sampled: true };
}

/** Makes the context of another span in the same trace. */
export function childOf({ traceId, sampled }: TraceContext): TraceContext {
  return { traceId, spanId: randomHex(8), sampled };
}

function randomHex(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex');
}
