// The rules for names, labels and finalizers, with their messages (k8s.io/apimachinery, util/validation). Each function
// returns an error message, or undefined for a valid value.

const labelPattern = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomainPattern = new RegExp(`^${labelPattern}(\\.${labelPattern})*$`);
const qualifiedPart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const subdomainRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must " +
  "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const labelRule =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and " +
  "end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const strictLabelRule =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, " +
  "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is " +
  "'[a-z]([-a-z0-9]*[a-z0-9])?')";
const keyRule =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " +
  "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const valueRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must " +
  "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for " +
  "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/** Returns the error of a text, or undefined for a valid one. */
export type ErrorOf = (text: string) => string | undefined;

/** Returns the error of texts that do not match a pattern, or that are too long. */
export function matching(pattern: RegExp, error: string, longest = Number.POSITIVE_INFINITY): ErrorOf {
  return (text) => {
    if (text.length > longest) return `must be no more than ${longest} characters`;
    return pattern.test(text) ? undefined : error;
  };
}

/** Validates a DNS subdomain. */
export const subdomainError = matching(subdomainPattern, subdomainRule, 253);

/** Validates a DNS label. */
export const labelError = matching(new RegExp(`^${labelPattern}$`), labelRule, 63);

/** Validates a DNS label that begins with a letter, as the names in a definition. */
export const strictLabelError = matching(/^[a-z]([-a-z0-9]*[a-z0-9])?$/, strictLabelRule, 63);

/** Validates the name of a namespace. */
export function namespaceNameError(name: string): string | undefined {
  return name.includes('.') ? 'must not contain dots' : labelError(name);
}

/** Validates a name that only has to be one path segment, such as the names of RBAC objects. */
export function pathSegmentError(name: string): string | undefined {
  if (name === '.' || name === '..') return `may not be '${name}'`;
  const forbidden = ['/', '%'].find((character) => name.includes(character));
  return forbidden === undefined ? undefined : `may not contain '${forbidden}'`;
}

/** Validates a qualified name: a label key, an annotation key or a finalizer. */
export function qualifiedNameError(key: string): string | undefined {
  const parts = key.split('/');
  const [name = '', prefix] = parts.toReversed();
  if (parts.length > 2) {
    return (
      "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " +
      "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
      "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. " +
      "'example.com/MyName')"
    );
  }
  if (prefix !== undefined) {
    if (prefix === '') return 'prefix part must be non-empty';
    const error = subdomainError(prefix);
    if (error !== undefined) return `prefix part ${error}`;
  }
  if (name === '') return 'name part must be non-empty';
  if (name.length > 63) return 'name part must be no more than 63 bytes';
  return qualifiedPart.test(name) ? undefined : keyRule;
}

/** Validates a label value. */
export function labelValueError(value: string): string | undefined {
  if (value.length > 63) return 'must be no more than 63 bytes';
  return value === '' || qualifiedPart.test(value) ? undefined : valueRule;
}

/** Compares versions by Kubernetes' version priority: v2 before v1 before v1beta1. */
export function byVersionPriority(a: string, b: string): number {
  const rank = (version: string): [number, number, number] => {
    const [, major, stage, minor] = /^v(\d+)(alpha|beta)?(\d+)?$/.exec(version) ?? [];
    const stages = { alpha: 0, beta: 1 } as const;
    return [
      stage === 'alpha' || stage === 'beta' ? stages[stage] : major === undefined ? -1 : 2,
      Number(major ?? 0),
      Number(minor ?? 0),
    ];
  };
  const [x, y] = [rank(a), rank(b)];
  return y[0] - x[0] || y[1] - x[1] || y[2] - x[2];
}
