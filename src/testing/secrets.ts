// The secrets of controllers in a test.
import type { SecretReader } from '../api/secret.ts';
import { SettingsError } from '../core/errors.ts';

/** Reads the values that the test gives, by the text of their variable. Throws SettingsError for another one. */
export function readSecrets(values: Readonly<Record<string, string>>): SecretReader {
  return {
    read: async ({ secret, key }, where) => {
      const name = key === undefined ? secret : `${secret}#${key}`;
      const value = values[name];
      if (value === undefined) {
        throw new SettingsError(`${where} names "${name}", which the option \`secrets\` of the test does not have`);
      }
      return value;
    },
    forget: () => {},
  };
}
