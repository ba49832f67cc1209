// What an API server answers is measured before it is parsed, in one place: a response, a line of a watch, the Status
// of a command. JSON.parse builds up to 28 bytes of heap from one byte of text (`[`, `{}`), so a limit of bytes alone
// lets a server of one owner end the process of all. Therefore values are limited, and with them the depth, because
// each level is a value. A string costs what its text does. A limit of depth alone would protect no reader: V8's own
// JSON.stringify refuses 5,000 levels, and kube-apiserver accepts 10,000 (sigs.k8s.io/json, maxNestingDepth).
import { StringDecoder } from 'node:string_decoder';
import { TooLargeError } from './errors.ts';

/** The limits of one JSON document. A longer one is a TooLargeError, however the network splits it. */
export type AnswerLimits = {
  readonly bytes: number;
  /** Values and keys together: each costs up to 61 bytes of heap, whatever it is (measured on Node 24). */
  readonly values: number;
};

const mebibyte = 1024 * 1024;

/**
 * etcd accepts 1.5 MiB for an object (`--max-request-bytes`), and kube-apiserver 3 MiB for a request. JSON is longer
 * than what etcd stores, in which built-in kinds are protobuf. A function reconciles ten objects at once, and its
 * smallest memory is 256 MB: 250,000 values use up to 15 MB. Dense objects have 7 bytes of text for each, so this is as
 * much as etcd accepts.
 */
export const objectLimits: AnswerLimits = { bytes: 4 * mebibyte, values: 250_000 };

/**
 * A page needs two to four times as much heap, and a watcher lists all of its kinds at once. With pages of 64 MB four
 * kinds exceeded the heap of the pod (256 MB), after each restart again, and one page the memory of a function
 * (256 MB): 500 objects of one author with large annotations are such a page. With 16 MB ten kinds fit. A page that is
 * over a limit is requested again with half of its objects.
 */
export const pageLimits: AnswerLimits = { ...objectLimits, bytes: 16 * mebibyte, values: 800_000 };

/** A Status is small. The error page of a proxy need not be read completely. */
export const errorLimits: AnswerLimits = { ...objectLimits, bytes: mebibyte };

/** Each value and key but the first has one of these before it, outside of a string: the marks that are counted. */
const marks = ',:[{';
const isMark = new Uint8Array(256);
for (const mark of marks) isMark[mark.charCodeAt(0)] = 1;

/** A document of fewer bytes has fewer values than any limit. Its bytes are kept, in case that it grows. */
const unmeasuredBytes = 250_000;

/** Parts are joined and measured when there are as many: single bytes would cost 32 bytes of heap and more for each. */
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
  #unmeasured: Uint8Array[] = [];
  /** At least as many as the values: the marks within strings, too. */
  #marks = 0;
  #scan: Scan | undefined;

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
    const text = this.#decoder.write(bytes);
    this.#parts.push(text);
    if (this.#isJson) this.#measure(bytes, text);
    if (this.#parts.length === maxParts) this.#join();
  }

  /** Returns whether the bytes so far are a whole array or object, if they are JSON at all. */
  isComplete(): boolean {
    this.#scan ??= this.#scanned();
    return this.#scan.isComplete();
  }

  /** Returns the text of the document, and begins the next one. */
  take(): string {
    this.#parts.push(this.#decoder.end());
    this.#join();
    const text = this.#text;
    this.#text = '';
    this.#bytes = 0;
    this.#unmeasured = [];
    this.#marks = 0;
    this.#scan = undefined;
    return text;
  }

  #join(): void {
    const joined = this.#parts.join('');
    this.#text = this.#text === '' ? joined : this.#text + joined;
    this.#parts = [];
  }

  /** Counts marks, which is cheap, and looks where they stand only in a document that has more of them than values. */
  #measure(bytes: Uint8Array, text: string): void {
    const { values } = this.#limits;
    if (this.#scan !== undefined) {
      this.#scan.read(text);
    } else {
      this.#unmeasured.push(bytes);
      const isShort = this.#bytes <= Math.min(values, unmeasuredBytes);
      if (isShort && this.#unmeasured.length < maxParts) return;
      for (const waiting of this.#unmeasured) this.#marks += marksIn(waiting);
      this.#unmeasured = [];
      if (this.#marks <= values) return;
      this.#scan = this.#scanned();
    }
    if (this.#scan.values > values) throw this.#tooLarge(`larger than ${values} values and keys`);
  }

  /** Scans the text so far. */
  #scanned(): Scan {
    const scan = new Scan();
    for (const text of [this.#text, ...this.#parts]) scan.read(text);
    return scan;
  }

  #tooLarge(problem: string): TooLargeError {
    return new TooLargeError(`${this.#label}: the response is ${problem}`);
  }
}

/** Counts the marks, also those in strings. Four bytes at a time: this loop is the price of the measurement. */
function marksIn(bytes: Uint8Array): number {
  const { length } = bytes;
  const mark = (at: number) => isMark[bytes[at] ?? 0] ?? 0;
  let count = 0;
  let at = 0;
  for (; at + 4 <= length; at += 4) count += mark(at) + mark(at + 1) + mark(at + 2) + mark(at + 3);
  for (; at < length; at += 1) count += mark(at);
  return count;
}

/** What is outside of the strings of a text of JSON, however it is split. */
class Scan {
  values = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  read(text: string): void {
    for (let at = 0; at < text.length; at += 1) {
      const character = text.charAt(at);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (character === '"') this.#isInString = !this.#isInString;
      else if (this.#isInString) this.#isEscaped = character === '\\';
      else if (marks.includes(character)) this.#count(character);
      else if (character === '}' || character === ']') this.#depth -= 1;
    }
  }

  /** Whether a whole array or object was read. */
  isComplete(): boolean {
    return this.values > 0 && this.#depth === 0 && !this.#isInString;
  }

  #count(mark: string): void {
    this.values += 1;
    if (mark === '[' || mark === '{') this.#depth += 1;
  }
}
