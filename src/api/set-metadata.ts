// Labels and annotations that a controller sets on the objects that it reconciles, under its own field manager. Its
// role and an admission policy permit changes of the declared keys only. The same check is made here.

/** The keys of labels and annotations that a controller sets. */
export type MetadataSpec = { readonly labels?: readonly string[]; readonly annotations?: readonly string[] };

/** The type of `sets` where nothing is declared. An interface, because the compiler's errors show its name. */
export interface NoMetadataDeclared extends MetadataSpec {
  readonly 'declare `sets` with the labels and annotations first': never;
}

type KeysIn<S, Part extends keyof MetadataSpec> =
  S extends Readonly<Record<Part, readonly (infer K extends string)[]>> ? K : never;
type ValuesOf<K extends string> = [K] extends [never] ? never : { readonly [Key in K]?: string | undefined };

/** The values of declared keys. A key that is absent or undefined is removed. */
export type MetadataValues<S extends MetadataSpec = MetadataSpec> = {
  readonly labels?: ValuesOf<KeysIn<S, 'labels'>>;
  readonly annotations?: ValuesOf<KeysIn<S, 'annotations'>>;
};

/** The same without types. */
export type AnyMetadataValues = {
  readonly [Part in keyof MetadataSpec]?: Readonly<Record<string, string | undefined>> | undefined;
};

/**
 * Makes the declared labels and annotations of the object exactly these. It writes only if something differs, by
 * server-side apply without force. Throws FieldOwnedError for a key to which another client gave another value: nothing
 * is written then, and the other value stays. Throws a TypeError for a key that is not declared.
 */
export type SetMetadata<S extends MetadataSpec> = (values: MetadataValues<S>) => Promise<void>;

/** Throws a TypeError for a key that is not declared. */
export function ensureDeclared(controller: string, spec: MetadataSpec, values: AnyMetadataValues): void {
  for (const part of ['labels', 'annotations'] as const) {
    const undeclared = Object.keys(values[part] ?? {}).find((key) => spec[part]?.includes(key) !== true);
    if (undeclared !== undefined)
      throw new TypeError(`${controller} does not declare the key ${undeclared}; add it to sets.${part}`);
  }
}

/** Returns the values that are given, as they are stored. An undefined value counts as absent. */
export function givenValues(
  values: Readonly<Record<string, string | undefined>> = {},
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, value.toWellFormed()] as const],
    ),
  );
}
