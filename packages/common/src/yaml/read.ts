// The one reader of the YAML that people give: manifests, samples, CRDs and kubeconfigs are read as kubectl reads them.
// kubectl splits a file into documents by its lines (k8s.io/apimachinery util/yaml), and reads each with
// sigs.k8s.io/yaml 1.6, which is go-yaml v2: `on` and `y` are booleans, 010 is 8, 12:30:45 and dates are texts, and the
// last of two equal keys wins. The package has the syntax; values, keys and merges follow decode.go and resolve.go.
import { type Alias, isAlias, isMap, isScalar, isSeq, parseAllDocuments, Scalar, type YAMLMap } from 'yaml';
import { checkCharacters, checkScalars, YamlError } from './refused.ts';
import { resolveScalar, type YamlValue } from './scalar.ts';

/** Reads the documents of a file as `kubectl apply -f` does: without those that are empty. Throws YamlError. */
export function readYamlDocuments(text: string): readonly YamlValue[] {
  if (/^\s*\{/.test(text)) {
    try {
      return [JSON.parse(text)];
    } catch {
      // kubectl, too, reads a text as YAML that looks like JSON and is none.
    }
  }
  const documents: string[] = [''];
  for (const line of text.split(/\r?\n/)) {
    if (!line.startsWith('---')) documents.push(`${documents.pop() ?? ''}${line}\n`);
    else if (/^---\s*(?:#|$)/.test(line)) documents.push('');
    else throw new YamlError(`nothing but a comment may follow --- in its line: ${line}`);
  }
  return documents.map(readYaml).filter((value) => value !== null);
}

/** Reads the first document of a text as sigs.k8s.io/yaml does, as client-go reads a kubeconfig. Throws YamlError. */
export function readYaml(text: string): YamlValue {
  const lines = text.replace(/^\ufeff/, '').replaceAll(/\r\n?|\x85/g, '\n');
  try {
    // In this schema every scalar is its text.
    const options = { schema: 'failsafe', uniqueKeys: false, prettyErrors: true } as const;
    checkCharacters(lines);
    const [document] = parseAllDocuments(lines, options);
    const [problem] = document?.errors ?? [];
    if (problem !== undefined) throw problem;
    checkScalars(lines, document);
    return new Decoder().value(document?.contents);
  } catch (error) {
    if (error instanceof YamlError) throw error;
    // The stack is full for a text with some thousand levels.
    throw new YamlError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** go-yaml's limit of what aliases may expand to: a share of all nodes, which falls between these counts. */
const aliasRange = { low: 400_000, high: 4_000_000 };

/** The values of one document. A node is decoded again for each of its aliases, as in decode.go. */
class Decoder {
  readonly #anchors = new Map<string, unknown>();
  readonly #open = new Set<unknown>();
  #decoded = 0;
  #fromAliases = 0;
  #aliasDepth = 0;

  value(node: unknown): YamlValue {
    this.#count();
    if (isAlias(node)) return this.#inAlias(node, (target) => this.value(target));
    this.#remember(node);
    if (isScalar(node)) return this.#scalar(node);
    if (isSeq(node)) return node.items.map((item) => this.value(item));
    // A Map has a member called __proto__, too.
    if (isMap(node)) return Object.fromEntries(this.#members(node));
    return null;
  }

  #scalar(node: Scalar): YamlValue {
    const isPlain = node.type === Scalar.PLAIN || node.type === undefined;
    return resolveScalar(node.source ?? '', node.tag ?? (isPlain ? undefined : stringTag));
  }

  #members(node: YAMLMap, members = new Map<string, YamlValue>()): Map<string, YamlValue> {
    for (const { key, value } of node.items) {
      if (isMerge(key)) this.#merge(value, members);
      else members.set(keyText(this.value(key)), this.value(value));
    }
    return members;
  }

  /** A merge sets its keys where it stands: it changes the keys above it, and those below change its own. */
  #merge(node: unknown, members: Map<string, YamlValue>): void {
    this.#count();
    if (isAlias(node)) this.#inAlias(node, (target) => this.#merge(target, members));
    else if (isMap(node)) {
      this.#remember(node);
      this.#members(node, members);
    } else if (isSeq(node) && node.items.every((item) => isMap(item) || isAlias(item))) {
      this.#remember(node);
      for (const item of node.items.toReversed()) this.#merge(item, members);
    } else throw new YamlError('<< needs a map, or a list of maps');
  }

  #remember(node: unknown): void {
    const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined;
    if (anchor === undefined || this.#aliasDepth > 0) return;
    if (!/^[\w-]+$/.test(anchor)) throw new YamlError(`an anchor has letters, digits, _ and -: &${anchor}`);
    this.#anchors.set(anchor, node);
  }

  #inAlias<T>({ source }: Alias, decode: (target: unknown) => T): T {
    const target = this.#anchors.get(source);
    if (target === undefined) throw new YamlError(`there is no anchor &${source} above *${source}`);
    if (this.#open.has(target)) throw new YamlError(`the anchor &${source} contains itself`);
    this.#open.add(target);
    this.#aliasDepth += 1;
    const value = decode(target);
    this.#aliasDepth -= 1;
    this.#open.delete(target);
    return value;
  }

  #count(): void {
    this.#decoded += 1;
    if (this.#aliasDepth > 0) this.#fromAliases += 1;
    const { low, high } = aliasRange;
    const fall = Math.min(1, Math.max(0, (this.#decoded - low) / (high - low)));
    const isExcessive = this.#fromAliases / this.#decoded > 0.99 - 0.89 * fall;
    if (this.#fromAliases > 100 && this.#decoded > 1_000 && isExcessive) {
      throw new YamlError('its aliases expand to too much');
    }
  }
}

const stringTag = 'tag:yaml.org,2002:str';

function isMerge(key: unknown): boolean {
  return isScalar(key) && key.source === '<<' && (key.type === Scalar.PLAIN || key.tag === 'tag:yaml.org,2002:merge');
}

/** Keys are texts: a number or a boolean is written as Go writes it, floats in 32 bits. */
function keyText(key: YamlValue): string {
  if (typeof key === 'string') return key;
  if (typeof key === 'boolean' || Number.isSafeInteger(key)) return String(key);
  if (typeof key === 'number' && !Number.isInteger(key)) return String(Number(Math.fround(key).toPrecision(9)));
  throw new YamlError(`quote the key ${String(key)}`);
}
