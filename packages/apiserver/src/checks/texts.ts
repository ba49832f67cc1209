// The texts that the validation tables name, with the messages of k8s.io/apimachinery (util/validation). Each function
// returns an error, or undefined for a valid text.
import { isIP, isIPv4 } from 'node:net';
import {
  type ErrorOf,
  labelError,
  labelValueError,
  matching,
  namespaceNameError,
  pathSegmentError,
  qualifiedNameError,
  subdomainError,
} from '../registry/names.ts';

const isName: ErrorOf = matching(
  /^(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  'must contain only alpha-numeric characters (a-z, 0-9), at least one letter, and single hyphens within',
  15,
);
const isKey: ErrorOf = matching(
  /^(?!\.\.)(?!\.$)[-._a-zA-Z0-9]+$/,
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or " +
    "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
  253,
);

const backstepError: ErrorOf = (path) => (path.split('/').includes('..') ? "must not contain '..'" : undefined);
const relativePathError: ErrorOf = (path) => (path.startsWith('/') ? 'must be a relative path' : backstepError(path));

/** Kubernetes accepts leading zeros, Node does not. */
const ipError: ErrorOf = (address) =>
  isIP(address.replaceAll(/\b0+(?=\d)/g, '')) === 0
    ? 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
    : undefined;

/** An address of an endpoint is that of one machine. Simulated pods have addresses of the loopback network. */
const endpointError: ErrorOf = (ip) => {
  const isSpecial = /^(0\.0\.0\.0|::|::1|169\.254\..*|224\.0\.0\..*|fe[89ab].*)$/i.test(ip);
  return ipError(ip) ?? (isSpecial ? 'may not be unspecified, or in the link-local range' : undefined);
};

const cidrError: ErrorOf = (range) => {
  const [, address = '', bits = ''] = /^(.+)\/(\d{1,3})$/.exec(range) ?? [];
  const isValid = ipError(address) === undefined && Number(bits) <= (isIPv4(address) ? 32 : 128);
  return isValid ? undefined : 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';
};

/** A DNS name whose first label may be `*`. */
const hostError: ErrorOf = (host) => {
  const name = host.startsWith('*.') ? host.slice(2) : host;
  return host.includes('*') && !host.startsWith('*.') ? 'a wildcard must be the first label' : subdomainError(name);
};

const domainPathError: ErrorOf = (path) => {
  const [, domain = '', rest = ''] = /^([^/]*)\/(.+)$/s.exec(path) ?? [];
  const isValid = subdomainError(domain) === undefined && /^[\w/\-.~%!$&'()*+,;=:]+$/.test(rest);
  return isValid ? undefined : 'must be a domain-prefixed path (such as "acme.io/foo")';
};

/** The error of a text by the word of the tables. */
export const textErrors: Readonly<Record<string, ErrorOf>> = {
  label: labelError,
  labelValue: labelValueError,
  namespace: namespaceNameError,
  subdomain: subdomainError,
  qualified: qualifiedNameError,
  segment: pathSegmentError,
  portName: isName,
  configKey: isKey,
  variable: matching(/^[ -<>-~]+$/, 'must consist only of printable ASCII characters other than "="'),
  header: matching(/^[-A-Za-z0-9]+$/, "a valid HTTP header must consist of alphanumeric characters or '-'"),
  percent: matching(/^[0-9]+%$/, "a valid percent string must be a numeric string followed by an ending '%'"),
  backsteps: backstepError,
  relativePath: relativePathError,
  filePath: (path) => relativePathError(path) ?? (path.startsWith('..') ? "must not start with '..'" : undefined),
  absolutePath: matching(/^\//, 'must be an absolute path'),
  ip: ipError,
  endpoint: endpointError,
  cidr: cidrError,
  host: hostError,
  ingressHost: (host) => (isIPv4(host) ? 'must be a DNS name, not an IP address' : hostError(host)),
  domainPath: domainPathError,
  domain: (name) => subdomainError(name.replace(/\.$/, '')),
  search: matching(
    /^(\.|[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?(\.[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?)*\.?)$/,
    'must be a DNS subdomain',
  ),
  sysctl: matching(
    /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/,
    'must match the form of a sysctl',
  ),
  indexes: matching(/^(\d+(-\d+)?(,\d+(-\d+)?)*)?$/, 'error parsing succeededIndexes'),
  short: matching(/./, 'must not be empty', 128),
  finalizer: (name) =>
    qualifiedNameError(name) ??
    (name.includes('/') || ['orphan', 'foregroundDeletion', 'kubernetes'].includes(name)
      ? undefined
      : 'name is neither a standard finalizer name nor is it fully qualified'),
  nodeField: matching(/^metadata\.name$/, 'not a valid field selector key'),
  driver: (name) => (name.length > 63 ? 'may not be more than 63 bytes' : subdomainError(name.toLowerCase())),
  provisioner: (name) => qualifiedNameError(name.toLowerCase()),
};
