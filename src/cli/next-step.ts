// What a person does about a call that failed, where the error does not say so itself: an AWS SDK names what is wrong, and leaves
// the rest to whoever knows it.
import { isUnauthorized } from '../kube/client/errors.ts';
import { isMissingQueue } from '../queue/failed-call.ts';

/** By the names and codes of errors, the SDK's own and those that AWS answers with. */
const steps: readonly (readonly [RegExp, string])[] = [
  [/^(CredentialsProviderError|NoCredentialsError)$/, 'sign in (aws sso login), or set AWS_PROFILE'],
  [
    /^(ExpiredToken(Exception)?|InvalidClientTokenId|UnrecognizedClientException|InvalidSignatureException|SignatureDoesNotMatch)$/,
    'these credentials are not accepted; sign in again, or set another AWS_PROFILE',
  ],
  [
    /^(AccessDenied(Exception)?|AuthorizationError|KMS\.AccessDeniedException)$/,
    'have this right given to you, or set another AWS_PROFILE',
  ],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'is the --region one that there is, and this machine on the network?'],
  [/^ECONNREFUSED$/, 'nothing answers there; does it still run?'],
  [
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT(_LOCALLY)?)|CERT_\w+)$/,
    'the ca given for this server did not sign its certificate; if that has changed, give the new one',
  ],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'the certificate is of another name; is the server the right one?'],
];

/** Finds the next step for an error or one of its causes; undefined where nothing better is known than what the error says. */
export function nextStep(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error) || depth > 5) return undefined;
  if (isUnauthorized(error)) return 'the API server does not accept these credentials; renew them';
  if (isMissingQueue(error)) return 'outrigger doctor says how to have it again';
  if (hasNoRegion(error)) return 'name one with --region, or set AWS_REGION';
  const names = [error.name, 'code' in error ? String(error.code) : ''];
  const found = steps.find(([pattern]) => names.some((name) => pattern.test(name)));
  return found?.[1] ?? nextStep(error.cause, depth + 1);
}

/** Tells whether an error is an answer of AWS, or of the SDK that could not ask: a stack of ours says nothing about it. */
export function isFromAws(error: Error): boolean {
  return '$metadata' in error || 'tryNextLink' in error || hasNoRegion(error);
}

/** The SDK has no name for it. */
function hasNoRegion({ message }: Error): boolean {
  return /^Region (is missing|not accepted)/.test(message);
}
