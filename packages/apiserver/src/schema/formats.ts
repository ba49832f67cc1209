// The string formats that kube-apiserver validates (strfmt in kube-openapi). Other formats are documentation only.
import { isIPv4, isIPv6 } from 'node:net';

const uuidPattern = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
/** As strfmt has it: the offset and what is before the fraction can be anything. */
const dateTimePattern = /^\d{4}-\d\d-\d\dt([01]\d|2[0-3]):[0-5]\d:[0-5]\d(.\d+)?(z|[+-]\d\d:\d\d)(t.*)?$/i;
const durationPattern = /^[+-]?(\d+(\.\d*)?(ns|us|µs|ms|s|m|h|d|w)\s*)+$/;

/** One label with at most one hyphen, its second character; or several labels, the last one of letters alone. */
const hostCharacter = '[\\p{L}\\p{S}a-z0-9]';
const hostLabel = `${hostCharacter}([\\p{L}\\p{S}a-z0-9-]{0,61}${hostCharacter})?`;
const hostnamePattern = new RegExp(
  `^(${hostCharacter}(-?${hostCharacter}{0,62})?|(${hostLabel}\\.)+[\\p{L}a-z]{2,63})$`,
  'iu',
);

const formatChecks: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': isDateTime,
  datetime: isDateTime,
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && isDay(text),
  duration: (text) => durationPattern.test(text) || text === '0',
  uri: (text) => URL.canParse(text) || (text.startsWith('/') && URL.canParse(text, 'http://host')),
  email: (text) => /^[^@\s<>]+@[^@\s<>]+$/.test(text),
  hostname: (text) => hostnamePattern.test(text) && text.length <= 255,
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: (text) => /^[0-9a-f.:]+\/\d{1,3}$/i.test(text) && (isIPv4(text.split('/')[0] ?? '') || text.includes(':')),
  mac: (text) => /^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i.test(text),
  uuid: (text) => uuidPattern.test(text),
  uuid3: (text) => uuidPattern.test(text) && text.replaceAll('-', '')[12] === '3',
  uuid4: (text) => uuidPattern.test(text) && text.replaceAll('-', '')[12] === '4',
  uuid5: (text) => uuidPattern.test(text) && text.replaceAll('-', '')[12] === '5',
  byte: (text) => /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text),
};

/** Returns whether a string violates its format. */
export function violatesFormat(text: string, format: string | undefined): boolean {
  const isValid = format === undefined ? undefined : formatChecks[format];
  return isValid !== undefined && !isValid(text);
}

function isDateTime(text: string): boolean {
  return dateTimePattern.test(text) && isDay(text);
}

/** Returns whether a date exists. JavaScript parses 30 February as 2 March, Go rejects it. */
function isDay(text: string): boolean {
  const day = text.slice(0, 10);
  const read = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(read.getTime()) && read.toISOString().startsWith(day);
}
