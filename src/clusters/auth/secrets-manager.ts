// Reads one secret from Secrets Manager, with error messages for the person who has to fix it. The module is loaded
// only when an entry or a setting refers to a secret, because most functions never need it.

import {
  GetSecretValueCommand,
  SecretsManagerClient,
  SecretsManagerServiceException,
} from '@aws-sdk/client-secrets-manager';
import { unlessAborted } from '../../core/async.ts';
import { UserError } from '../../core/errors.ts';

/** An unresponsive service must not use up a function's time. */
const deadlineMilliseconds = 5000;
const maxTries = 3;

/** Reads a secret's text by name or ARN. Throws a UserError if a person has to fix it, otherwise the SDK's error. */
export type GetSecret = (id: string, where: string) => Promise<string>;

/** Creates a GetSecret for the region of this process. */
export function createGetSecret(
  client: SecretsManagerClient = new SecretsManagerClient({ maxAttempts: maxTries }),
): GetSecret {
  return async (id, where) => {
    const abortSignal = AbortSignal.timeout(deadlineMilliseconds);
    try {
      // The SDK does not check the signal while it loads credentials.
      const sent = client.send(new GetSecretValueCommand({ SecretId: id }), { abortSignal });
      const { SecretString } = await unlessAborted(sent, abortSignal);
      if (SecretString !== undefined && SecretString.trim() !== '') return SecretString;
    } catch (error) {
      const advice = adviceFor(error);
      if (advice === undefined) throw error;
      throw new UserError(`${where}: secret "${id}" ${advice}`, { cause: error });
    }
    throw new UserError(`${where}: secret "${id}" holds no text; store it as a string`);
  };
}

/** Advice for what Secrets Manager says of a secret (API reference, GetSecretValue, "Errors"). */
const adviceByName: Readonly<Record<string, string>> = {
  ResourceNotFoundException: 'does not exist; create it, or correct its name',
  InvalidRequestException: 'is scheduled for deletion; restore it (aws secretsmanager restore-secret), or name another',
  AccessDeniedException:
    'is not readable; allow secretsmanager:GetSecretValue on it, ' +
    'and kms:Decrypt on its key, for the role of this function',
  DecryptionFailure: 'cannot be decrypted; enable its KMS key, or store it again with another',
};

/**
 * Errors with a status of 400 that say nothing about the secret: too many calls, or the credentials and the clock of
 * this process (API reference, "Common error types").
 */
const aboutTheCall = [
  ...['Throttl', 'TooManyRequests', 'LimitExceeded', 'RequestInProgress', 'RequestExpired', 'Signature'],
  ...['ExpiredToken', 'UnrecognizedClient', 'InvalidClientTokenId', 'MissingAuthenticationToken', 'OptIn'],
];

/**
 * Returns the advice for an error that says that the secret may not be used: whatever the service refuses, also if its
 * name is not known here (a disabled KMS key has several). Undefined for an outage.
 */
function adviceFor(error: unknown): string | undefined {
  if (!(error instanceof SecretsManagerServiceException)) return undefined;
  const { name, message, $metadata } = error;
  const { httpStatusCode = 0 } = $metadata;
  const advice = adviceByName[name];
  if (advice !== undefined) return advice;
  if (aboutTheCall.some((part) => name.includes(part))) return undefined;
  const isRefusal = httpStatusCode >= 400 && httpStatusCode < 500 && httpStatusCode !== 429;
  return isRefusal ? `is refused (${name}: ${message})` : undefined;
}
