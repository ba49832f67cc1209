// The libraries of URLs and addresses of Kubernetes' CEL (k8s.io/apiserver/pkg/cel/library: urls, ip and cidr).
// An address, a range and a URL are maps with their text, so that CEL compares them by it. Texts are read as Go reads
// them (net/netip, net/url), which is not as Node does: no zones, no mapped addresses, and URLs keep their case.
import { isIPv4, isIPv6 } from 'node:net';
import { type CelFunc, CelScalar, type CelValue, celFunc, isCelMap, mapType } from '@bufbuild/cel';
import { methodOf } from './cel-method.ts';

const { DYN, BOOL, STRING, INT } = CelScalar;

type Range = { readonly address: string; readonly bits: number };
type Address = { readonly scheme: string; readonly host: string; readonly path: string; readonly query: string };

/** The functions of addresses, ranges and URLs. */
export const networkFunctions: readonly CelFunc[] = [
  celFunc('isIP', [STRING], BOOL, (text) => readIp(text) !== undefined),
  celFunc('ip', [STRING], DYN, (text) => toValue('ip', needed(readIp(text), `IP Address "${text}" parse error`))),
  celFunc(
    'ip.isCanonical',
    [STRING],
    BOOL,
    (text) => needed(readIp(text), `IP Address "${text}" parse error`) === text,
  ),
  methodOf(DYN, 'family', [], INT, (self) => (isIPv4(textOf(self, 'ip')) ? 4n : 6n)),
  ...Object.entries({
    isUnspecified: ['0.0.0.0/32', '::/128'],
    isLoopback: ['127.0.0.0/8', '::1/128'],
    isLinkLocalMulticast: ['224.0.0.0/24', 'ff02::/16'],
    isLinkLocalUnicast: ['169.254.0.0/16', 'fe80::/10'],
  }).map(([name, ranges]) =>
    methodOf(DYN, name, [], BOOL, (self) => ranges.some((range) => contains(range, textOf(self, 'ip')))),
  ),
  methodOf(DYN, 'isGlobalUnicast', [], BOOL, (self) => {
    const others = ['0.0.0.0/32', '255.255.255.255/32', '127.0.0.0/8', '224.0.0.0/4', '169.254.0.0/16'];
    const others6 = ['::/128', '::1/128', 'ff00::/8', 'fe80::/10'];
    return ![...others, ...others6].some((range) => contains(range, textOf(self, 'ip')));
  }),
  celFunc('isCIDR', [STRING], BOOL, (text) => readRange(text) !== undefined),
  celFunc('cidr', [STRING], DYN, (text) => toValue('cidr', rangeText(text))),
  methodOf(DYN, 'containsIP', [DYN], BOOL, (self, other) => {
    const ip =
      typeof other === 'string' ? needed(readIp(other), `IP Address "${other}" parse error`) : textOf(other, 'ip');
    return contains(textOf(self, 'cidr'), ip);
  }),
  methodOf(DYN, 'containsCIDR', [DYN], BOOL, (self, other) => {
    const inner = typeof other === 'string' ? rangeText(other) : textOf(other, 'cidr');
    const [address = '', bits] = inner.split('/');
    const own = textOf(self, 'cidr');
    return contains(own, address) && Number(own.split('/')[1]) <= Number(bits);
  }),
  methodOf(DYN, 'ip', [], DYN, (self) => toValue('ip', textOf(self, 'cidr').split('/')[0] ?? '')),
  methodOf(DYN, 'prefixLength', [], INT, (self) => BigInt(textOf(self, 'cidr').split('/')[1] ?? 0)),
  methodOf(DYN, 'masked', [], DYN, (self) => toValue('cidr', masked(textOf(self, 'cidr')))),
  celFunc('string', [mapType(STRING, STRING)], STRING, (value) => {
    const text = value.get('ip') ?? value.get('cidr');
    if (typeof text !== 'string') throw new Error('no such overload');
    return text;
  }),
  celFunc('isURL', [STRING], BOOL, (text) => readUrl(text) !== undefined),
  celFunc('url', [STRING], DYN, (text) => {
    needed(readUrl(text), 'URL parse error during conversion from string');
    return toValue('url', text);
  }),
  ...Object.entries<(url: Address) => string>({
    getScheme: ({ scheme }) => scheme,
    getHost: ({ host }) => host,
    getHostname: ({ host }) => host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1'),
    getPort: ({ host }) => /:(\d*)$/.exec(host)?.[1] ?? '',
    getEscapedPath: ({ path }) => path.replace(/[^\w\-.~!$&'()*+,;=:@[\]/%]/gu, encodeURIComponent),
  }).map(([name, read]) =>
    methodOf(DYN, name, [], STRING, (self) =>
      read(needed(readUrl(textOf(self, 'url').replace(/#.*$/s, '')), 'no URL')),
    ),
  ),
  methodOf(DYN, 'getQuery', [], DYN, (self) => {
    const { query } = needed(readUrl(textOf(self, 'url').replace(/#.*$/s, '')), 'no URL');
    const values = new Map<string, string[]>();
    // Go does not separate by a semicolon, and leaves such pairs out.
    const pairs = query.split('&').filter((pair) => pair !== '' && !pair.includes(';'));
    for (const [key, value] of new URLSearchParams(pairs.join('&')))
      values.set(key, [...(values.get(key) ?? []), value]);
    return values;
  }),
];

function needed<Value>(value: Value | undefined, error: string): Value {
  if (value === undefined) throw new Error(error);
  return value;
}

function toValue(kind: 'ip' | 'cidr' | 'url', text: string): Map<string, string> {
  return new Map([[kind, text]]);
}

function textOf(value: CelValue, kind: 'ip' | 'cidr' | 'url'): string {
  const text = isCelMap(value) ? value.get(kind) : undefined;
  if (typeof text !== 'string') throw new Error('no such overload');
  return text;
}

/** Returns the canonical form of an address. */
function readIp(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const canonical = new URL(`http://[${text}]`).hostname.slice(1, -1);
  return /^::ffff:[0-9a-f]+:[0-9a-f]+$/.test(canonical) ? undefined : canonical;
}

function readRange(text: string): Range | undefined {
  const [, given = '', bits = ''] = /^(.+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const address = readIp(given);
  return address === undefined || Number(bits) > widthOf(address) ? undefined : { address, bits: Number(bits) };
}

function rangeText(text: string): string {
  const { address, bits } = needed(readRange(text), 'network address parse error during conversion from string');
  return `${address}/${bits}`;
}

function widthOf(address: string): number {
  return isIPv4(address) ? 32 : 128;
}

function numberOf(address: string): bigint {
  if (isIPv4(address)) return address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  const [head = [], tail = []] = address.split('::').map((half) => half.split(':').filter((part) => part !== ''));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return [...head, ...zeros, ...tail].reduce((sum, part) => sum * 65_536n + BigInt(`0x${part}`), 0n);
}

/** Returns whether an address is in a range. */
function contains(range: string, ip: string): boolean {
  const { address, bits } = needed(readRange(range), 'no range');
  const shift = BigInt(widthOf(address) - bits);
  return isIPv4(address) === isIPv4(ip) && numberOf(address) >> shift === numberOf(ip) >> shift;
}

/** Returns a range with the bits of its address beyond the prefix as zeros. */
function masked(range: string): string {
  const { address, bits } = needed(readRange(range), 'no range');
  const shift = BigInt(widthOf(address) - bits);
  const first = (numberOf(address) >> shift) << shift;
  const size = isIPv4(address) ? 8n : 16n;
  const parts = Array.from(
    { length: isIPv4(address) ? 4 : 8 },
    (_, index, all = isIPv4(address) ? 4 : 8) => (first >> (size * BigInt(all - 1 - index))) & (2n ** size - 1n),
  );
  const text = isIPv4(address) ? parts.join('.') : parts.map((part) => part.toString(16)).join(':');
  return `${readIp(text)}/${bits}`;
}

/** Reads a URL as Go's ParseRequestURI does: with a scheme, or an absolute path. */
function readUrl(text: string): Address | undefined {
  const [, scheme = '', rest = ''] = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(.*)$/s.exec(text) ?? [];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Go refuses them.
  if (/[\x00-\x1f\x7f]/.test(text) || (scheme === '' && !rest.startsWith('/'))) return undefined;
  const [before = '', query = ''] = rest.split(/\?(.*)/s);
  const [, authority, path = ''] = /^(?:\/\/([^/]*))?(.*)$/s.exec(before) ?? [];
  if (!before.startsWith('/')) return { scheme: scheme.toLowerCase(), host: '', path: '', query };
  const host = authority?.slice(authority.lastIndexOf('@') + 1) ?? '';
  const isHost = /^(\[[0-9a-f:.]+(%25[\w.~-]+)?\]|[\w\-.~!$&'()*+,;=<>"\u0080-\uffff]*)(:\d*)?$/i.test(host);
  const isEscaped = !/%(?![0-9a-f]{2})/i.test(path);
  return isHost && isEscaped ? { scheme: scheme.toLowerCase(), host, path, query } : undefined;
}
