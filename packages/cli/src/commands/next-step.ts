// The next step for a person after a failed call. Errors of the AWS SDK and of Node name the problem, and not the fix.
import { isCertificateCode } from 'outrigger/internal/core/errors';
import { isUnauthorized } from 'outrigger/internal/kube/client/errors';
import { untrustedCodeOf } from 'outrigger/internal/kube/client/transport';
import { isMissingQueue } from 'outrigger/internal/sqs/call';

/** By the names and codes of errors, of the SDK and of AWS responses. */
const steps: readonly (readonly [RegExp, string])[] = [
  [/^(CredentialsProviderError|NoCredentialsError)$/, 'sign in (aws sso login), or set AWS_PROFILE'],
  [
    anyOf(
      'ExpiredToken(Exception)?',
      'InvalidClientTokenId',
      'UnrecognizedClientException',
      'InvalidSignatureException',
      'SignatureDoesNotMatch',
    ),
    'these credentials are not accepted; sign in again, or set another AWS_PROFILE',
  ],
  [
    /^(AccessDenied(Exception)?|AuthorizationError|KMS\.AccessDeniedException)$/,
    'get this permission, or set another AWS_PROFILE',
  ],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'check the address or the --region, and that this machine is on the network'],
  [/^(TimeoutError|ETIMEDOUT)$/, 'check that this machine reaches it (network, VPN, proxy), and try again'],
  [/^ECONNREFUSED$/, 'no server listens there; check that it still runs'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'the certificate has another name; check the server’s address'],
];

const certificateStep =
  'the configured ca did not sign this server’s certificate; if the ca has changed, configure the new one';

/**
 * Finds the next step for an error or one of its causes; undefined if none is known.
 * @param at the options of a printed command: ` --stage prod`
 */
export function nextStep(error: unknown, at = '', depth = 0): string | undefined {
  if (!(error instanceof Error) || depth > 5) return undefined;
  if (untrustedCodeOf(error) !== undefined) return undefined; // Its message has the advice.
  if (isUnauthorized(error)) return 'the API server does not accept these credentials; renew them';
  if (isMissingQueue(error)) return `outrigger doctor${at} prints the command that creates it again`;
  if (hasNoRegion(error)) return 'name one with --region, or set AWS_REGION';
  const names = [error.name, 'code' in error ? String(error.code) : ''];
  const found = steps.find(([pattern]) => names.some((name) => pattern.test(name)));
  if (found === undefined && names.some(isCertificateCode)) return certificateStep;
  return found?.[1] ?? nextStep(error.cause, at, depth + 1);
}

/** Whether an error is a response of AWS, or of the SDK that could not send a request: its stack does not help. */
export function isFromAws(error: Error): boolean {
  return '$metadata' in error || 'tryNextLink' in error || hasNoRegion(error);
}

/** The SDK gives this error no name. */
function hasNoRegion({ message }: Error): boolean {
  return /^Region (is missing|not accepted)/.test(message);
}

/** Matches a whole name; a part may be a pattern. */
function anyOf(...names: readonly string[]): RegExp {
  return new RegExp(`^(?:${names.join('|')})$`);
}
