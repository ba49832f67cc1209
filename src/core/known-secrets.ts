// The secrets that this process has received: tokens, keys and secrets of Secrets Manager. They are cut out of every
// text by equality. The patterns of redact.ts find other secrets.
//
// This is the only state of a module outside of the entry points: a text is made safe at many places, and a place that
// is not given the secrets would leak them.

/** A shorter secret would also be cut out of texts that do not contain it. */
const minLength = 8;
/** Longer ones are documents, such as kubeconfigs; the secrets in them are remembered when they are used. */
const maxLength = 16_384;
/** Tokens are replaced each quarter of an hour. The oldest ones are forgotten. */
const maxSecrets = 2_000;

/** Secrets, and how to cut them out of texts. */
export type KnownSecrets = {
  /** Remembers a secret. */
  add(secret: string): void;
  /**
   * Returns the text without the secrets that it contains: as they are, as JSON, percent-encoded, and in base64, also
   * as a part of what was encoded (`user:password`). Reads the text once, whatever the number of secrets.
   */
  cut(text: string): string;
};

/** The written forms of secrets by their last characters, which are as random as the secret. */
type Index = Pick<Map<string, readonly string[]>, 'get' | 'set' | 'delete' | 'size'>;

/** Creates a set of secrets. */
export function createKnownSecrets({ index = new Map() }: { readonly index?: Index } = {}): KnownSecrets {
  const known = new Map<string, readonly string[]>();

  function forgetOldest(): void {
    const [[secret, forms] = []] = known;
    if (secret === undefined || forms === undefined) return;
    known.delete(secret);
    for (const form of forms) {
      const others = index.get(endOf(form))?.filter((one) => one !== form) ?? [];
      if (others.length === 0) index.delete(endOf(form));
      else index.set(endOf(form), others);
    }
  }

  return {
    add(secret) {
      if (secret.length < minLength || secret.length > maxLength || known.has(secret)) return;
      const forms = formsOf(secret);
      known.set(secret, forms);
      for (const form of forms) index.set(endOf(form), [...(index.get(endOf(form)) ?? []), form]);
      if (known.size > maxSecrets) forgetOldest();
    },
    cut(text) {
      if (index.size === 0) return text;
      let rest = '';
      let from = 0;
      for (let end = minLength; end <= text.length; end += 1) {
        const forms = index.get(text.slice(end - minLength, end));
        if (forms === undefined) continue;
        const found = forms.filter((form) => text.endsWith(form, end)).map(({ length }) => length);
        if (found.length === 0) continue;
        const start = Math.max(from, end - Math.max(...found));
        // A secret within a longer one that was cut before.
        rest += start === from && rest.endsWith(mark) ? '' : `${text.slice(from, start)}${mark}`;
        from = end;
      }
      return rest + text.slice(from);
    },
  };
}

const mark = '[redacted]';

function endOf(form: string): string {
  return form.slice(-minLength);
}

/** The forms in which a secret appears in texts. */
function formsOf(secret: string): readonly string[] {
  const percent = encodeURIComponent(secret.toWellFormed());
  const form = new URLSearchParams({ s: secret }).toString().slice('s='.length);
  const base64 = [0, 1, 2].flatMap((offset) => base64At(Buffer.from(secret), offset));
  const lower = [percent, form].map((text) => text.replaceAll(/%[\dA-F]{2}/g, (code) => code.toLowerCase()));
  const all = [secret, JSON.stringify(secret).slice(1, -1), percent, form, ...lower, ...base64];
  return [...new Set(all)].filter(({ length }) => length >= minLength);
}

/**
 * The characters of base64 that depend on the secret alone, if it begins at this offset in a group of three bytes. A
 * character has six bits, so those at the two ends also depend on the neighbours.
 */
function base64At(secret: Buffer, offset: number): readonly string[] {
  const bytes = Buffer.concat([Buffer.alloc(offset), secret]);
  const [start, end] = [Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6)];
  return [bytes.toString('base64').slice(start, end), bytes.toString('base64url').slice(start, end)];
}

const ofThisProcess = createKnownSecrets();

/** Remembers a secret of this process. Call it where the process receives the secret. */
export function rememberSecret(secret: string): void {
  ofThisProcess.add(secret);
}

/** Remembers the secret parts of AWS credentials, and returns the credentials. */
export function rememberCredentials<C extends { readonly secretAccessKey: string; readonly sessionToken?: string }>(
  credentials: C,
): C {
  rememberSecret(credentials.secretAccessKey);
  if (credentials.sessionToken !== undefined) rememberSecret(credentials.sessionToken);
  return credentials;
}

/** Returns the text without the secrets of this process. */
export function cutKnownSecrets(text: string): string {
  return ofThisProcess.cut(text);
}
