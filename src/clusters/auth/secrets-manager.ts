// Reads one secret from Secrets Manager, with error messages for the person who has to fix it. The module is loaded
// only when an entry or a setting refers to a secret, because most functions never need it.

import {
  GetSecretValueCommand,
  ResourceNotFoundException,
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

/** Returns the advice for an error that a retry does not fix. */
function adviceFor(error: unknown): string | undefined {
  if (error instanceof ResourceNotFoundException) return 'does not exist; create it, or correct its name';
  if (error instanceof SecretsManagerServiceException && error.name === 'AccessDeniedException')
    return 'is not readable; allow secretsmanager:GetSecretValue on it for the role of this function';
  return undefined;
}
