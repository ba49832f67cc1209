// The libraries of formats and of semantic versions of Kubernetes' CEL (k8s.io/apiserver/pkg/cel/library, format.go and
// semverlib.go). A format is a map with its name. A version is one with its numbers and a text by which versions are
// ordered, so that CEL compares them without what is after a plus.
import { type CelFunc, CelScalar, type CelValue, celFunc, celList, isCelMap } from '@bufbuild/cel';
import {
  type ErrorOf,
  labelError,
  labelValueError,
  qualifiedNameError,
  strictLabelError,
  subdomainError,
} from '../registry/names.ts';
import { methodOf } from './cel-method.ts';
import { violatesFormat } from './formats.ts';

const { DYN, BOOL, STRING, INT } = CelScalar;

/** A name that goes on after a hyphen. Kubernetes leaves out the character before it too (maskTrailingDash). */
const prefix =
  (errorOf: ErrorOf): ErrorOf =>
  (text) =>
    errorOf(text.replace(/.-$/s, 'a'));
const checked =
  (format: string, error: string): ErrorOf =>
  (text) =>
    text === '' || violatesFormat(text, format) ? error : undefined;

const formats: Readonly<Record<string, ErrorOf>> = {
  dns1123Label: labelError,
  dns1123Subdomain: subdomainError,
  dns1035Label: strictLabelError,
  dns1123LabelPrefix: prefix(labelError),
  dns1123SubdomainPrefix: prefix(subdomainError),
  dns1035LabelPrefix: prefix(strictLabelError),
  qualifiedName: qualifiedNameError,
  labelValue: labelValueError,
  uri: checked('uri', 'invalid URI for request'),
  uuid: checked('uuid', 'does not match the UUID format'),
  byte: checked('byte', 'invalid base64'),
  date: checked('date', 'invalid date'),
  datetime: checked('datetime', 'invalid datetime'),
};

/** The functions of formats and versions. */
export const textFunctions: readonly CelFunc[] = [
  celFunc('format.named', [STRING], DYN, (name) => (Object.hasOwn(formats, name) ? new Map([['format', name]]) : null)),
  ...Object.keys(formats).map((name) => celFunc(`format.${name}`, [], DYN, () => new Map([['format', name]]))),
  methodOf(DYN, 'validate', [STRING], DYN, (self, text) => {
    const name = isCelMap(self) ? String(self.get('format')) : '';
    const error = formats[name]?.(text);
    return error === undefined ? null : celList([error]);
  }),
  celFunc('isSemver', [STRING], BOOL, (text) => versionIn(text) !== undefined),
  celFunc('isSemver', [STRING, BOOL], BOOL, (text, isLoose) => versionIn(isLoose ? strict(text) : text) !== undefined),
  celFunc('semver', [STRING], DYN, neededVersion),
  celFunc('semver', [STRING, BOOL], DYN, (text, isLoose) => neededVersion(isLoose ? strict(text) : text)),
  ...['major', 'minor', 'patch'].map((part) =>
    methodOf(DYN, part, [], INT, (self) => {
      const number = isCelMap(self) ? self.get(part) : undefined;
      if (typeof number !== 'bigint') throw new Error('no such overload');
      return number;
    }),
  ),
];

/** The text by which a version is ordered; undefined for another value. */
export function orderOfVersion(value: CelValue): string | undefined {
  const order = isCelMap(value) ? value.get('order') : undefined;
  return typeof order === 'string' ? order : undefined;
}

function neededVersion(text: string): Map<string, string | bigint> {
  const found = versionIn(text);
  if (found === undefined) throw new Error(`invalid semantic version ${text}`);
  return found;
}

const [number, part] = ['(0|[1-9]\\d*)', '(?:0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)'];
const build = '[0-9A-Za-z-]+';
const versionPattern = new RegExp(
  `^${number}\\.${number}\\.${number}(?:-(${part}(?:\\.${part})*))?(?:\\+${build}(?:\\.${build})*)?$`,
);

/** Reads a version (semver.org). Numbers are before texts, fewer parts before more, and a release after all of them. */
function versionIn(text: string): Map<string, string | bigint> | undefined {
  const found = versionPattern.exec(text);
  if (found === null) return undefined;
  const numbers = found.slice(1, 4);
  const early = found[4] ?? '~';
  const parts = [...numbers, ...early.split('.')];
  const order = parts.map((part) => (/^\d+$/.test(part) ? `0${part.padStart(20, '0')}` : `1${part}`)).join(' ');
  const named = ['major', 'minor', 'patch'].map((name, index) => [name, BigInt(numbers[index] ?? 0)] as const);
  return new Map<string, string | bigint>([['order', order], ...named]);
}

/** Completes a version that is not written strictly: with a v before it, leading zeros, or fewer numbers. */
function strict(text: string): string {
  const [, first = '', rest = ''] = /^v?([^.]*)\.?(.*)$/s.exec(text) ?? [];
  const [, second = '', third = ''] = /^([^.]*)\.?(.*)$/s.exec(rest) ?? [];
  const parts = [first, second, third].map((part) => part.replace(/^0+(?=\d)/, ''));
  const isShort = text.split('.').length < 3;
  return isShort && /[-+]/.test(text) ? '' : parts.map((part) => (part === '' && isShort ? '0' : part)).join('.');
}
