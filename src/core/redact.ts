// Error messages end up in status, Events, logs and dead letters, which many people can read. Text that looks like a
// credential is masked, and long text is truncated.

import { cutKnownSecrets } from './known-secrets.ts';

/** metav1.Condition allows 32,768 characters. This many of an error are enough to diagnose it. */
const maxLength = 512;
/** Text is truncated to this before the search: a response body may be large. */
const maxSearched = 32_768;

// The patterns take linear time on any text: what precedes the fixed part of a pattern is bounded, or begins only where
// a word begins.
const secretName = [
  'password|passwd|pwd|secret|token|authorization|cookie|credentials?|signature',
  String.raw`(?:api|access|private)[-_]?key|x-amz-[\w-]{0,40}|aws_secret\w{0,40}`,
].join('|');
/**
 * A name may be the end of a longer one (`client_secret`), and may stand in JSON within a JSON string. The ARN of a
 * secret in Secrets Manager is no assignment.
 */
const assignment = String.raw`((?:${secretName})\\*["']?\s*[=:](?<!:secretsmanager:[\w-]{0,30}:\d{0,12}:secret:)\s*)`;
/** What zod reports of a field, which may have the name of a secret. It begins without the value. */
const zodMessage = String.raw`invalid (?:input|option|string|number|url)\b|too (?:small|big):`;
/** A quoted value may contain spaces. */
const secretValue = String.raw`(?!\[redacted\]|bearer\b|basic\b|${zodMessage})(?:\\*"[^"\\]*|'[^']*|[^\s"',;&\\]+)`;

const secrets: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, '$1 [redacted]'],
  // Up to the last @ of the authority: a password may contain one.
  [/(\w{1,20}:\/\/)[^\s/"'<>]+@/g, '$1[redacted]@'],
  [/((?<![\w-])--[\w-]{0,40}(?:password|token|secret)\s)\s*(?:"[^"]*"?|'[^']*'?|[^\s"',;]+)/gi, '$1[redacted]'],
  [/\b(authorization\\*["']?\s?[=:]\s?\\*["']?(?:token|apikey|negotiate|digest)\s)[^\s"',;\\]+/gi, '$1[redacted]'],
  // All cookies of the header.
  [/\b(cookie:\s?)[\w.-]{1,64}=[^\s;"',]*(?:;\s?[\w.-]{1,64}=[^\s;"',]*)*/gi, '$1[redacted]'],
  [new RegExp(`${assignment}${secretValue}`, 'gi'), '$1[redacted]'],
  [/(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]*/g, '[redacted]'],
  // GitHub, GitLab, Vault, Slack, Stripe and AWS access keys.
  [/\b(?:gh[opsur]_|github_pat_|hv[sbr]\.|xox[abeprs]-|xapp-|glpat-|[rs]k_live_)[\w.-]{10,}/g, '[redacted]'],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, '[redacted]'],
  [/\bk8s-aws-v1\.[\w-]+/g, '[redacted]'],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, '[redacted]'],
];

/**
 * Masks what this process knows to be secret, and text that looks like a credential. Text past the search limit is
 * dropped; all other text is unchanged.
 */
export function maskSecrets(text: string): string {
  // Twice as much, so that a known secret at the limit is not cut in two.
  const known = cutKnownSecrets(text.slice(0, 2 * maxSearched)).slice(0, maxSearched);
  return secrets.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), known);
}

/**
 * Returns an error's message in a form that is safe to show: one line of bounded length, with credentials masked,
 * without the characters that SQS rejects in an attribute (control characters, unpaired surrogates).
 */
export function redact(message: string): string {
  const line = maskSecrets(message)
    .replaceAll(/[\s\p{Cc}\uFFFE\uFFFF]+/gu, ' ')
    .trim();
  return (line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line).toWellFormed();
}
