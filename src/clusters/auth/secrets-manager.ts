// One secret of Secrets Manager, in the words of a person who has to mend what is wrong with it. Loaded when an entry or a setting
// refers to a secret: most functions never need it.
import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
  SecretsManagerServiceException,
} from '@aws-sdk/client-secrets-manager';
import { ConnectionProblem } from '../connection-problem.ts';

/** A service that does not answer must not use up a function's time. */
const DEADLINE_MILLISECONDS = 5000;
const TRIES = 3;

/** Reads a secret's text by name or ARN. Throws a ConnectionProblem for what only a person can mend, else what the SDK throws. */
export type GetSecret = (id: string, where: string) => Promise<string>;

/** Creates the way to the secrets of this process's own region. */
export function createGetSecret(
  client: SecretsManagerClient = new SecretsManagerClient({ maxAttempts: TRIES }),
): GetSecret {
  return async (id, where) => {
    const abortSignal = AbortSignal.timeout(DEADLINE_MILLISECONDS);
    try {
      const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: id }), { abortSignal });
      if (SecretString !== undefined && SecretString.trim() !== '') return SecretString;
    } catch (error) {
      const advice = adviceFor(error);
      if (advice === undefined) throw error;
      throw new ConnectionProblem(`${where}: secret "${id}" ${advice}`, { cause: error });
    }
    throw new ConnectionProblem(`${where}: secret "${id}" holds no text; store it as a string`);
  };
}

/** What to do about an answer that trying again will not change. */
function adviceFor(error: unknown): string | undefined {
  if (error instanceof ResourceNotFoundException) return 'is not there; create it, or correct its name';
  if (error instanceof SecretsManagerServiceException && error.name === 'AccessDeniedException')
    return 'may not be read; allow secretsmanager:GetSecretValue on it to the role of this function';
  return undefined;
}
