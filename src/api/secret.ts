// A setting that is a secret. The environment has its location and not its value, so no template and no console shows
// the value, and a replaced secret needs no deployment. The process that runs a controller provides the reader.
import * as z from 'zod';
import { SettingsError } from '../core/errors.ts';

/** A reference to a secret. */
export type SecretReference = {
  /** Name or ARN in Secrets Manager. */
  readonly secret: string;
  /** Of a secret that is a JSON object of texts, as the console writes them: which one. */
  readonly key?: string | undefined;
  /** How long a value is cached. */
  readonly maxAgeSeconds: number;
};

/** Reads secrets. */
export type SecretReader = {
  /** Reads one. `where` says who refers to it, for the error. */
  read(reference: SecretReference, where: string): Promise<string>;
  /** Forgets the cached value: it was not accepted, so the secret may have been replaced. */
  forget(reference: SecretReference): void;
};

/** A secret, as the clients of a controller use it. */
export type Secret = {
  /**
   * Reads it. The value is cached for as long as the setting allows, so call this at each use.
   * @throws Error that names the secret, if it does not exist or may not be read
   */
  read(): Promise<string>;
  /** Discards the value, because it was not accepted: it is read again at the next use. */
  invalidate(): void;
};

const connect = Symbol('connect');
/** In the metadata of the schema that `secret()` returns. */
const secretKey = 'outrigger-secret';
type Setting = Secret & { readonly [connect]: (reader: SecretReader, where: string) => void };

/**
 * Declares a setting whose variable names a secret of Secrets Manager, by name or ARN; `name#key` is the text under a
 * key of a secret that is a JSON object. A function may read the secrets that are named after such settings of its
 * controller, `<project>/<stage>/settings/PLANT_TOKEN`, and no other. On one machine it may be `file:` and a path.
 * @example settings: z.object({ PLANT_TOKEN: secret({ maxAgeSeconds: 60 }) })
 */
export function secret({
  maxAgeSeconds = 300,
}: {
  /** How long a value is used before it is read again. Default: 300. */
  readonly maxAgeSeconds?: number;
} = {}): z.ZodType<Secret, string> {
  return z
    .string()
    .min(1)
    .transform((given): Secret => {
      // A path may have a #, and a file is one value.
      const [name = '', key] = given.startsWith('file:') ? [given] : given.split('#', 2);
      return settingOf({ secret: name, key, maxAgeSeconds });
    })
    .meta({ [secretKey]: true });
}

/** Connects the secrets among a controller's settings to a reader. */
export function connectSecrets(settings: object, reader: SecretReader, controller: string): void {
  for (const [name, value] of Object.entries(settings)) {
    // In parentheses: a colon after a name like TOKEN would have the next word of a message masked as its value.
    if (isSetting(value)) value[connect](reader, `controller ${controller} (${name})`);
  }
}

/** Returns whether a setting is a secret, also inside another schema (`.optional()`). */
export function isSecret(schema: z.core.$ZodType): boolean {
  if (z.globalRegistry.get(schema)?.[secretKey] === true) return true;
  return Object.values(schema._zod.def)
    .flat()
    .some((inner) => inner instanceof z.core.$ZodType && isSecret(inner));
}

function settingOf(reference: SecretReference): Setting {
  let read: Secret['read'] = async () => {
    throw new SettingsError(`secret "${reference.secret}" was read where nothing gives out secrets`);
  };
  let invalidate = () => {};
  return {
    read: async () => await read(),
    invalidate: () => invalidate(),
    [connect]: (reader, where) => {
      read = async () => await reader.read(reference, where);
      invalidate = () => reader.forget(reference);
    },
  };
}

function isSetting(value: unknown): value is Setting {
  return typeof value === 'object' && value !== null && connect in value;
}
