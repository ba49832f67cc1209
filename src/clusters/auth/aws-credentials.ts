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

/** The provider failed: it has no credentials, or a call of an AWS service failed, which another try may help. */
export class CredentialsError extends UserError {}

/**
 * Reads the credentials, and keeps them out of logs. Throws a CredentialsError if the provider fails, and another
 * UserError if it hangs for `seconds`.
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
    const message = `${where}: no AWS credentials (${reason}); give this process a role or a profile`;
    throw new (deadline.aborted ? UserError : CredentialsError)(message, { cause: error });
  }
}
