// The rules for names, labels and finalizers (k8s.io/apimachinery, util/validation), with their words.

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = new RegExp(`^${LABEL}(\\.${LABEL})*$`);
const QUALIFIED_PART = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const SUBDOMAIN_WORDS =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_WORDS =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const KEY_WORDS =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_WORDS =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/** Returns what is wrong with a DNS subdomain. */
export function subdomainProblem(name: string): string | undefined {
  if (name.length > 253) return 'must be no more than 253 bytes';
  return SUBDOMAIN.test(name) ? undefined : SUBDOMAIN_WORDS;
}

/** Returns what is wrong with a DNS label. */
export function labelProblem(name: string): string | undefined {
  if (name.length > 63) return 'must be no more than 63 bytes';
  return new RegExp(`^${LABEL}$`).test(name) ? undefined : LABEL_WORDS;
}

/** Returns what is wrong with a namespace's name. */
export function namespaceNameProblem(name: string): string | undefined {
  return name.includes('.') ? 'must not contain dots' : labelProblem(name);
}

/** Returns what is wrong with a name that only has to be one segment of a path, as RBAC's. */
export function pathSegmentProblem(name: string): string | undefined {
  if (name === '.' || name === '..') return `may not be '${name}'`;
  const forbidden = ['/', '%'].find((character) => name.includes(character));
  return forbidden === undefined ? undefined : `may not contain '${forbidden}'`;
}

/** Returns what is wrong with a qualified name: a label's key, a finalizer. */
export function qualifiedNameProblem(key: string): string | undefined {
  const parts = key.split('/');
  const [name = '', prefix] = parts.toReversed();
  if (parts.length > 2) {
    return "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
  }
  if (prefix !== undefined) {
    if (prefix === '') return 'prefix part must be non-empty';
    const problem = subdomainProblem(prefix);
    if (problem !== undefined) return `prefix part ${problem}`;
  }
  if (name === '') return 'name part must be non-empty';
  if (name.length > 63) return 'name part must be no more than 63 bytes';
  return QUALIFIED_PART.test(name) ? undefined : KEY_WORDS;
}

/** Returns what is wrong with a label's value. */
export function labelValueProblem(value: string): string | undefined {
  if (value.length > 63) return 'must be no more than 63 bytes';
  return value === '' || QUALIFIED_PART.test(value) ? undefined : VALUE_WORDS;
}
