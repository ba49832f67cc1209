// Rules for texts besides the names of registry/names.ts, with the messages of k8s.io/apimachinery (util/validation).
// Each function returns an error, or undefined for a valid text.
import { isIP, isIPv4 } from 'node:net';
import { subdomainError } from '../registry/names.ts';

const longestPortName = 15;
const longestKey = 253;

/** Validates the name of a port (IsValidPortName). */
export function portNameError(name: string): string | undefined {
  if (name.length > longestPortName) return `must be no more than ${longestPortName} characters`;
  if (!/^[-a-z0-9]+$/.test(name)) return 'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)';
  if (!/[a-z]/.test(name)) return 'must contain at least one letter (a-z)';
  if (name.includes('--')) return 'must not contain consecutive hyphens';
  return name.startsWith('-') || name.endsWith('-') ? 'must not begin or end with a hyphen' : undefined;
}

/** Validates the name of a variable: printable ASCII characters without `=`. */
export function variableNameError(name: string): string | undefined {
  return /^[ -<>-~]+$/.test(name)
    ? undefined
    : 'a valid environment variable name must consist only of printable ASCII characters other than "="';
}

/** Validates a key of a ConfigMap or Secret, which becomes the name of a file. */
export function configKeyError(key: string): string | undefined {
  if (key.length > longestKey) return `must be no more than ${longestKey} characters`;
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) return keyRule;
  if (key === '.' || key === '..') return `must not be '${key}'`;
  return key.startsWith('..') ? "must not start with '..'" : undefined;
}

const keyRule =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or " +
  "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** Validates the path of a file in a volume: relative, without `..`. */
export function relativePathError(path: string): string | undefined {
  return path.startsWith('/') ? 'must be a relative path' : backstepError(path);
}

/** Refuses a path with `..`. */
export function backstepError(path: string): string | undefined {
  return path.split('/').includes('..') ? "must not contain '..'" : undefined;
}

/** Validates the path of a projected file, which does not start with `..` either. */
export function projectedPathError(path: string): string | undefined {
  return relativePathError(path) ?? (path.startsWith('..') ? "must not start with '..'" : undefined);
}

/** Validates an IP address. Kubernetes accepts leading zeros, Node does not. */
export function ipError(address: string): string | undefined {
  return isIP(address.replaceAll(/\b0+(?=\d)/g, '')) === 0
    ? 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
    : undefined;
}

/** Validates a range of IP addresses. */
export function cidrError(range: string): string | undefined {
  const [, address = '', bits = ''] = /^(.+)\/(\d{1,3})$/.exec(range) ?? [];
  const isValid = ipError(address) === undefined && Number(bits) <= (isIPv4(address) ? 32 : 128);
  return isValid ? undefined : 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';
}

/** Validates a percentage, such as `50%`. */
export function percentError(value: string): string | undefined {
  return /^[0-9]+%$/.test(value)
    ? undefined
    : "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex " +
        "used for validation is '[0-9]+%')";
}

/** Validates a DNS name whose first label may be `*`. */
export function hostError(host: string): string | undefined {
  if (!host.includes('*')) return subdomainError(host);
  return host.startsWith('*.') && subdomainError(host.slice(2)) === undefined
    ? undefined
    : "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of " +
        "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com')";
}

/** Validates a path with the domain of its owner before it, such as `example.com/controller`. */
export function domainPathError(path: string): string | undefined {
  const [, domain = '', rest = ''] = /^([^/]*)\/(.+)$/s.exec(path) ?? [];
  const isValid =
    domain !== '' && subdomainError(domain) === undefined && /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(rest);
  return isValid ? undefined : 'must be a domain-prefixed path (such as "acme.io/foo")';
}

/** Validates the name of an HTTP header. */
export function headerNameError(name: string): string | undefined {
  return /^[-A-Za-z0-9]+$/.test(name)
    ? undefined
    : "a valid HTTP header must consist of alphanumeric characters or '-'";
}
