// JSON from where anything may come.

/** Parses JSON; undefined for what is none. No error is kept: the parser's quotes what it read, credentials included. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
