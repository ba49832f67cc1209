// Label selectors in the syntax of query parameters: `a=b,c!=d,e in (x,y),f notin (z),g,!h,i>1,j<2`. The lexer and the
// parser are those of Kubernetes, with its errors (k8s.io/apimachinery, labels/selector.go).
import { labelValueError, qualifiedNameError } from '../registry/names.ts';
import { badRequest } from '../status-error.ts';

type Labels = Readonly<Record<string, string>>;
type Matcher = (labels: Labels) => boolean;

/** Compiles a selector. Throws a 400 StatusError for an invalid one. */
export function labelSelector(text: string): Matcher {
  const tokens = new Tokens(text);
  const requirements: Matcher[] = [];
  while (tokens.peek() !== '') {
    if (!isIdentifier(tokens.peek()) && tokens.peek() !== '!')
      throw tokens.unexpected("!, identifier, or 'end of string'");
    requirements.push(parseRequirement(tokens));
    const separator = tokens.take();
    if (separator === '') break;
    if (separator !== ',') throw badRequest(`found '${separator}', expected: ',' or 'end of string'`);
    if (!isIdentifier(tokens.peek()) && tokens.peek() !== '!') throw tokens.unexpected("identifier after ','");
  }
  return (labels) => requirements.every((matches) => matches(labels));
}

/** The tokens of a selector: symbols and identifiers; '' is the end. */
class Tokens {
  readonly #tokens: readonly string[];
  #index = 0;

  constructor(text: string) {
    this.#tokens = text.match(/==|!=|[=!(),<>]|[^=!(),<>\s]+/g) ?? [];
  }

  peek(): string {
    return this.#tokens[this.#index] ?? '';
  }

  take(): string {
    const token = this.peek();
    this.#index += 1;
    return token;
  }

  unexpected(expected: string): Error {
    return badRequest(`found '${this.peek()}', expected: ${expected}`);
  }
}

/** The names of operators are identifiers elsewhere: `in in (notin)` is a requirement of the label `in`. */
function isIdentifier(token: string): boolean {
  return /^[^=!(),<>]/.test(token);
}

const operators = ['in', 'notin', '=', '==', '!=', '>', '<'];

function parseRequirement(tokens: Tokens): Matcher {
  const isAbsent = tokens.peek() === '!';
  if (isAbsent) tokens.take();
  if (!isIdentifier(tokens.peek())) throw invalid(`found '${tokens.peek()}', expected: identifier`);
  const key = tokens.take();
  const keyError = qualifiedNameError(key);
  if (keyError !== undefined) throw invalid(`<nil>: Invalid value: ${JSON.stringify(key)}: ${keyError}`);
  if (isAbsent) return (labels) => !Object.hasOwn(labels, key);
  if (['', ','].includes(tokens.peek())) return (labels) => Object.hasOwn(labels, key);
  if (!operators.includes(tokens.peek()))
    throw invalid(`found '${tokens.peek()}', expected: in, notin, =, ==, !=, gt, lt`);
  const operator = tokens.take();
  const values = ['in', 'notin'].includes(operator) ? parseValues(tokens) : [parseExactValue(tokens)];
  const isOne = (labels: Labels) => Object.hasOwn(labels, key) && values.includes(labels[key] ?? '');
  const matcher = ['<', '>'].includes(operator) ? compares(key, operator, values[0] ?? '') : isOne;
  for (const [index, value] of values.toSorted().entries()) {
    const error = labelValueError(value);
    if (error === undefined) continue;
    throw invalid(`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${error}`);
  }
  return ['notin', '!='].includes(operator) ? (labels) => !isOne(labels) : matcher;
}

/** The values in brackets. An empty place is the empty value: `(a,)` is `a` and ''. */
function parseValues(tokens: Tokens): readonly string[] {
  if (tokens.peek() !== '(') throw invalid(`found '${tokens.peek()}' expected: '('`);
  tokens.take();
  const values: string[] = [];
  let isPlaceEmpty = true;
  for (;;) {
    const token = tokens.peek();
    if (token === ')' || token === ',') {
      if (isPlaceEmpty) values.push('');
      isPlaceEmpty = true;
    } else if (isIdentifier(token) && isPlaceEmpty) {
      values.push(token);
      isPlaceEmpty = false;
    } else {
      const first = values.length === 0 ? "',', ')' or identifier" : "',', or identifier";
      throw invalid(`found '${token}', expected: ${isPlaceEmpty ? first : "',' or ')'"}`);
    }
    tokens.take();
    if (token === ')') return values;
  }
}

function parseExactValue(tokens: Tokens): string {
  if (['', ','].includes(tokens.peek())) return '';
  if (!isIdentifier(tokens.peek())) throw invalid(`found '${tokens.peek()}', expected: identifier`);
  return tokens.take();
}

function compares(key: string, operator: string, value: string): Matcher {
  const bound = wholeNumber(value);
  if (bound === undefined) {
    const detail = "for 'Gt', 'Lt' operators, the value must be an integer";
    throw invalid(`values[0]: Invalid value: ${JSON.stringify(value)}: ${detail}`);
  }
  return (labels) => {
    const number = wholeNumber(labels[key] ?? '');
    return number !== undefined && (operator === '>' ? number > bound : number < bound);
  };
}

/** A number of 64 bits. */
function wholeNumber(text: string): bigint | undefined {
  const number = /^[+-]?\d+$/.test(text) ? BigInt(text.replace('+', '')) : undefined;
  return number !== undefined && BigInt.asIntN(64, number) === number ? number : undefined;
}

function invalid(detail: string): Error {
  return badRequest(`unable to parse requirement: ${detail}`);
}
