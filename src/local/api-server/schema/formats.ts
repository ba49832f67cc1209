// The string formats that kube-apiserver checks (kube-openapi's strfmt); every other format is only a remark to the reader.
import { isIPv4, isIPv6 } from 'node:net';

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
const DURATION = /^[+-]?(\d+(\.\d*)?(ns|us|µs|ms|s|m|h|d|w)\s*)+$/;

const CHECKS: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) => DATE_TIME.test(text) && !Number.isNaN(Date.parse(text)) && isDay(text),
  datetime: (text) => DATE_TIME.test(text) && !Number.isNaN(Date.parse(text)) && isDay(text),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && isDay(text),
  duration: (text) => DURATION.test(text) || text === '0',
  uri: (text) => URL.canParse(text) || (text.startsWith('/') && URL.canParse(text, 'http://host')),
  email: (text) => /^[^@\s<>]+@[^@\s<>]+$/.test(text),
  hostname: (text) => /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(text),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: (text) => /^[0-9a-f.:]+\/\d{1,3}$/i.test(text) && (isIPv4(text.split('/')[0] ?? '') || text.includes(':')),
  mac: (text) => /^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i.test(text),
  uuid: (text) => UUID.test(text),
  uuid3: (text) => UUID.test(text) && text.replaceAll('-', '')[12] === '3',
  uuid4: (text) => UUID.test(text) && text.replaceAll('-', '')[12] === '4',
  uuid5: (text) => UUID.test(text) && text.replaceAll('-', '')[12] === '5',
  byte: (text) => /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text),
};

/** Tells whether a string breaks its format. */
export function breaksFormat(text: string, format: string | undefined): boolean {
  const fits = format === undefined ? undefined : CHECKS[format];
  return fits !== undefined && !fits(text);
}

/** JavaScript reads 30 February as 2 March; Go refuses it. */
function isDay(text: string): boolean {
  const day = text.slice(0, 10);
  const read = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(read.getTime()) && read.toISOString().startsWith(day);
}
