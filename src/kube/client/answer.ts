// What an API server answers is measured before it is parsed, in one place: a response, a line of a watch, the Status
// of a command. JSON.parse builds up to 28 bytes of heap from one byte of text (`[`, `{}`), so a limit of bytes alone
// lets a server of one owner end the process of all. The scan is linear and needs no memory of its own.
import { StringDecoder } from 'node:string_decoder';
import { TooLargeError } from './errors.ts';

/** The limits of one JSON document. A longer one is a TooLargeError, however the network splits it. */
export type AnswerLimits = {
  readonly bytes: number;
  /** Values and keys together: each costs up to 61 bytes of heap, whatever it is (measured on Node 24). */
  readonly values: number;
  readonly depth: number;
  /** Bytes of one string or key, with its escapes. */
  readonly stringBytes: number;
};

const mebibyte = 1024 * 1024;

/**
 * etcd accepts 1.5 MiB for an object (`--max-request-bytes`), and kube-apiserver 3 MiB for a request. JSON is longer
 * than what etcd stores, in which built-in kinds are protobuf. A function reconciles ten objects at once, and its
 * smallest memory is 256 MB: 250,000 values use up to 15 MB. Dense objects have 7 bytes of text for each, so this is as
 * much as etcd accepts. kube-apiserver decodes a depth of 10,000 (sigs.k8s.io/json, maxNestingDepth); a list, a watch
 * event and managedFields put some levels around it.
 */
export const objectLimits: AnswerLimits = {
  bytes: 4 * mebibyte,
  values: 250_000,
  depth: 10_016,
  stringBytes: 4 * mebibyte,
};

/**
 * A page needs two to four times as much heap, and a watcher lists all of its kinds at once. With pages of 64 MB four
 * kinds exceeded the heap of the pod (256 MB), after each restart again, and one page the memory of a function
 * (256 MB): 500 objects of one author with large annotations are such a page. With 16 MB ten kinds fit. A page that is
 * over a limit is requested again with half of its objects.
 */
export const pageLimits: AnswerLimits = { ...objectLimits, bytes: 16 * mebibyte, values: 800_000 };

/** A Status is small. The error page of a proxy need not be read completely. */
export const errorLimits: AnswerLimits = { ...objectLimits, bytes: mebibyte };

/** What a byte of JSON means outside of a string. Any other byte belongs to a number, a name or white space. */
const separator = 1;
const opener = 2;
const closer = 3;
const quote = 4;
const quoteByte = 0x22;
const backslashByte = 0x5c;
const meanings = new Uint8Array(256);
for (const [characters, meaning] of [[',:', separator] as const, ['[{', opener] as const, [']}', closer] as const]) {
  for (const character of characters) meanings[character.charCodeAt(0)] = meaning;
}
meanings[quoteByte] = quote;

/** Parts are joined when there are as many: a server that sends single bytes would cost 32 bytes of heap for each. */
const maxParts = 1024;

/**
 * Collects the text of one document after the other, and measures each as its bytes arrive. Decodes each chunk at once:
 * buffers kept for a whole page are promoted to the old generation and stay until a full garbage collection, and memory
 * outside the heap hardly triggers one.
 */
export class Answer {
  readonly #label: string;
  readonly #limits: AnswerLimits;
  readonly #isJson: boolean;
  readonly #decoder = new StringDecoder('utf8');
  #text = '';
  #parts: string[] = [];
  #bytes = 0;
  /** Not scanned yet: a document that is shorter than the limit of depth is within all limits. */
  #unscanned: Uint8Array[] | undefined = [];
  #values = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #stringBytes = 0;

  /** @param isJson false for a text, which is not parsed: its bytes alone are limited */
  constructor(label: string, limits: AnswerLimits, { isJson = true }: { readonly isJson?: boolean } = {}) {
    this.#label = label;
    this.#limits = limits;
    this.#isJson = isJson;
  }

  /** The bytes of the document so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds bytes, which may end within a character. Throws a TooLargeError if the document is over a limit. */
  add(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    if (this.#bytes > this.#limits.bytes) throw this.#tooLarge(`larger than ${this.#limits.bytes} bytes`);
    if (this.#isJson) {
      if (this.#unscanned === undefined) this.#scan(bytes);
      else this.#unscanned.push(bytes);
      if (this.#bytes > this.#limits.depth) this.#scanWaiting();
    }
    this.#parts.push(this.#decoder.write(bytes));
    if (this.#parts.length === maxParts) this.#join();
  }

  /** Returns whether the bytes so far are a whole array or object, if they are JSON at all. */
  isComplete(): boolean {
    this.#scanWaiting();
    return this.#values > 0 && this.#depth === 0 && !this.#isInString;
  }

  /** Returns the text of the document, and begins the next one. */
  take(): string {
    this.#parts.push(this.#decoder.end());
    this.#join();
    const text = this.#text;
    this.#text = '';
    this.#bytes = 0;
    this.#unscanned = [];
    this.#values = 0;
    this.#depth = 0;
    this.#isInString = false;
    this.#isEscaped = false;
    this.#stringBytes = 0;
    return text;
  }

  #join(): void {
    const joined = this.#parts.join('');
    this.#text = this.#text === '' ? joined : this.#text + joined;
    this.#parts = [];
  }

  #scanWaiting(): void {
    const waiting = this.#unscanned ?? [];
    this.#unscanned = undefined;
    for (const bytes of waiting) this.#scan(bytes);
  }

  /**
   * One pass over local variables. It never reads beyond the end, because V8 keeps slower code for an array that was,
   * and makes no call for a string that ends: this loop is the price of the measurement.
   */
  #scan(bytes: Uint8Array): void {
    const { length } = bytes;
    const maxDepth = this.#limits.depth;
    let depth = this.#depth;
    let values = this.#values;
    let longest = 0;
    let at = this.#isInString ? this.#continueString(bytes) : 0;
    while (at < length) {
      const meaning = meanings[bytes[at] ?? 0];
      at += 1;
      if (meaning === 0) continue;
      if (meaning === quote) {
        const from = at;
        let byte = 0;
        while (at < length && byte !== quoteByte) {
          byte = bytes[at] ?? 0;
          at += byte === backslashByte ? 2 : 1;
        }
        if (byte !== quoteByte) this.#beginString(from, at, length);
        else if (at - from > longest) longest = at - from;
      } else if (meaning === closer) {
        depth -= 1;
      } else {
        values += 1;
        if (meaning === opener) depth += 1;
        if (depth > maxDepth) throw this.#tooLarge(`nested deeper than ${maxDepth} levels`);
      }
    }
    this.#depth = depth;
    this.#values = values;
    const { values: maxValues, stringBytes: maxStringBytes } = this.#limits;
    if (values > maxValues) throw this.#tooLarge(`larger than ${maxValues} values and keys`);
    if (Math.max(longest, this.#stringBytes) > maxStringBytes)
      throw this.#tooLarge(`with a string of over ${maxStringBytes} bytes`);
  }

  /** Notes a string that these bytes do not end. */
  #beginString(from: number, at: number, length: number): void {
    this.#isInString = true;
    this.#isEscaped = at > length;
    this.#stringBytes = length - from;
  }

  /** Returns where the string that began before ends in these bytes, or their length. */
  #continueString(bytes: Uint8Array): number {
    const { length } = bytes;
    let byte = 0;
    let at = this.#isEscaped ? 1 : 0;
    while (at < length && byte !== quoteByte) {
      byte = bytes[at] ?? 0;
      at += byte === backslashByte ? 2 : 1;
    }
    this.#isInString = byte !== quoteByte;
    this.#isEscaped = at > length;
    this.#stringBytes += Math.min(at, length);
    return at;
  }

  #tooLarge(problem: string): TooLargeError {
    return new TooLargeError(`${this.#label}: the response is ${problem}`);
  }
}
