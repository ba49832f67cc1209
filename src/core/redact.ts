// Errors end in status, Events, logs and dead letters, where anybody may read them. What looks like a credential is cut
// out, and what is long is cut short.

/** metav1.Condition allows 32,768 characters; this much of an error helps, more does not. */
const maxLength = 512;
/** What is longer is cut before it is searched: an answer's body may be large, and patterns take their time. */
const maxSearched = 32_768;

const secrets: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, '$1 [redacted]'],
  // Up to the last @ of the authority: a password may have one.
  [/(\w+:\/\/)[^\s/"'<>]+@/g, '$1[redacted]@'],
  // Also as the end of a longer name (`client_secret`), and in JSON that is quoted within JSON. A quoted value may have spaces.
  [
    /((?:password|passwd|secret|token|authorization|credentials?|signature|(?:api|access|private)[-_]?key|x-amz-[\w-]*|aws_secret\w*)\\*["']?\s*[=:]\s*)(?!\[redacted\]|bearer\b|basic\b)(?:\\*"[^"\\]*|'[^']*|[^\s"',;&\\]+)/gi,
    '$1[redacted]',
  ],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, '[redacted]'],
  [/\bk8s-aws-v1\.[\w-]+/g, '[redacted]'],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, '[redacted]'],
];

/** Cuts out what looks like a credential, and leaves everything else as it was written. */
export function conceal(text: string): string {
  return secrets.reduce(
    (rest, [pattern, replacement]) => rest.replace(pattern, replacement),
    text.slice(0, maxSearched),
  );
}

/**
 * Makes an error's message fit to be shown anywhere: one line, bounded, without what looks like a credential, and without
 * characters that SQS refuses in an attribute (control characters, half surrogate pairs).
 */
export function redact(message: string): string {
  const line = conceal(message)
    .replaceAll(/[\s\p{Cc}\uFFFE\uFFFF]+/gu, ' ')
    .trim();
  return (line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line).toWellFormed();
}
