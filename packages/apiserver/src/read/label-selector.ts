// Label selectors in the syntax of query parameters: `a=b,c!=d,e in (x,y),f notin (z),g,!h,i>1,j<2`
// (k8s.io/apimachinery, labels).
import { labelValueError, qualifiedNameError } from '../registry/names.ts';
import { badRequest } from '../status-error.ts';

type Labels = Readonly<Record<string, string>>;

/** Compiles a selector. Throws a 400 StatusError for an invalid one. */
export function labelSelector(text: string): (labels: Labels) => boolean {
  const requirements = split(text).map(requirement);
  return (labels) => requirements.every((fits) => fits(labels));
}

/** Splits a selector at its commas, except those in a list of values. */
function split(text: string): string[] {
  return text
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part, _, parts) => part !== '' || parts.length > 1);
}

const setPattern = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/;
const equalityPattern = /^([^=!<>\s]+)\s*(==|=|!=)\s*([^=!<>\s]*)$/;
const orderPattern = /^([^=!<>\s]+)\s*([<>])\s*([^=!<>\s]+)$/;
const existsPattern = /^(!?)\s*([^=!<>()\s]+)$/;

function requirement(text: string): (labels: Labels) => boolean {
  const set = setPattern.exec(text);
  if (set !== null) {
    const [, key = '', operator, list = ''] = set;
    const values = list.split(',').map((value) => checkedValue(value.trim()));
    checkKey(key, text);
    const isIn = (labels: Labels): boolean => labels[key] !== undefined && values.includes(labels[key]);
    return operator === 'in' ? isIn : (labels) => !isIn(labels);
  }
  const equality = equalityPattern.exec(text);
  if (equality !== null) {
    const [, key = '', operator, value = ''] = equality;
    checkKey(key, text);
    checkedValue(value);
    return operator === '!=' ? (labels) => labels[key] !== value : (labels) => labels[key] === value;
  }
  const order = orderPattern.exec(text);
  if (order !== null) {
    const [, key = '', operator, value = ''] = order;
    checkKey(key, text);
    const bound = wholeNumber(value);
    if (bound === undefined) {
      const detail = "for 'Gt', 'Lt' operators, the value must be an integer";
      throw badRequest(`unable to parse requirement: values[0]: Invalid value: ${JSON.stringify(value)}: ${detail}`);
    }
    return (labels) => {
      const number = labels[key] === undefined ? undefined : wholeNumber(labels[key]);
      return number !== undefined && (operator === '>' ? number > bound : number < bound);
    };
  }
  const [, not, key] = existsPattern.exec(text) ?? [];
  if (key === undefined) throw unparsable(text);
  checkKey(key, text);
  return not === '!' ? (labels) => labels[key] === undefined : (labels) => labels[key] !== undefined;
}

function wholeNumber(text: string): bigint | undefined {
  return /^[+-]?\d+$/.test(text) ? BigInt(text.replace('+', '')) : undefined;
}

function checkKey(key: string, text: string): void {
  if (qualifiedNameError(key) !== undefined) throw unparsable(text);
}

function checkedValue(value: string): string {
  const error = labelValueError(value);
  if (error !== undefined)
    throw badRequest(`unable to parse requirement: values[0][0]: Invalid value: ${JSON.stringify(value)}: ${error}`);
  return value;
}

function unparsable(text: string): Error {
  return badRequest(`unable to parse requirement: found '${text}', expected: identifier`);
}
