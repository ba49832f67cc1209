// Errors end in status, Events, logs and dead letters, where anybody may read them. What looks like a credential is cut
// out, and what is long is cut short.

/** metav1.Condition allows 32,768 characters; this much of an error helps, more does not. */
const maxLength = 512;

const secrets: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, '$1 [redacted]'],
  [/(\w+:\/\/)[^\s/@]+@/g, '$1[redacted]@'],
  [
    /\b((?:password|passwd|secret|token|authorization|api[-_]?key|x-amz-[\w-]*|aws_secret\w*)["']?\s*[=:]\s*["']?)(?!\[redacted\]|bearer\b|basic\b)[^\s"',;&]+/gi,
    '$1[redacted]',
  ],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, '[redacted]'],
  [/\bk8s-aws-v1\.[\w-]+/g, '[redacted]'],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, '[redacted]'],
];

/** Makes an error's message fit to be shown: one line, bounded, without what looks like a credential. */
export function redact(message: string): string {
  const clean = secrets.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), message);
  const line = clean.replaceAll(/\s+/g, ' ').trim();
  return line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line;
}
