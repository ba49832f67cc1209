// The AWS credentials of this process.
import { unlessAborted } from '../../core/async.ts';
import { toError, UserError } from '../../core/errors.ts';
import { rememberCredentials } from '../../core/known-secrets.ts';

/** AWS credentials from the SDK's providers. */
export type AwsCredentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
};

/** Credential providers call AWS services, which may hang. */
const timeoutSeconds = 5;

/** There are no credentials, for now or at all: a provider calls AWS services, which may fail. */
export class CredentialsError extends UserError {}

/**
 * Reads the credentials, and keeps them out of logs. Throws a CredentialsError if there are none within `seconds`.
 * `where` begins its message, such as `cluster "prod": access`.
 */
export async function readCredentials(
  provider: () => Promise<AwsCredentials>,
  where: string,
  seconds = timeoutSeconds,
): Promise<AwsCredentials> {
  const deadline = AbortSignal.timeout(seconds * 1000);
  try {
    return rememberCredentials(await unlessAborted(provider(), deadline));
  } catch (error) {
    const reason = deadline.aborted ? `none within ${seconds} s` : toError(error).message;
    throw new CredentialsError(`${where}: no AWS credentials (${reason}); give this process a role or a profile`, {
      cause: error,
    });
  }
}
