// What go-yaml v2 refuses or reads in another way, and the package yaml accepts: control characters, directives, tabs
// in front of a node, U+2028 and U+2029, which are line breaks of YAML 1.1, and in [] and {} a ? in front of a text and
// a colon behind one. Each is refused.
import { CST, type Document, Lexer, Scalar, visit } from 'yaml';

/** The text is not YAML as kubectl reads it. The message may quote the text. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
}

/** Checks the text of a document before it is parsed. Throws YamlError. */
export function checkCharacters(text: string): void {
  const [, control] = /([^\t\n -~\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}])/u.exec(text) ?? [];
  if (control !== undefined) throw new YamlError(`the character ${JSON.stringify(control)} is not allowed in YAML`);
  // kubectl splits at ---, so what follows a directive is never in its document.
  if (/^(?:\s*(?:#.*)?\n)*%/.test(text)) throw new YamlError('a directive (%) is not allowed here; remove it');
  if (text.includes('\t')) checkTabs(text);
  if (/[[{]/.test(text) && /[?!]|:\S/.test(text)) checkFlow(text);
}

/**
 * In [] and {} a ? or : begins a key or a value also without a blank, and a colon without one behind it is part of its
 * text.
 */
function checkFlow(text: string): void {
  let [depth, isText, last] = [0, false, ''];
  for (const token of new Lexer().lex(text)) {
    const type = isText ? 'text' : (CST.tokenType(token) ?? '');
    isText = type === 'scalar';
    if (isText || token === '') continue;
    if (depth > 0 && type === 'text' && /^[?:]/.test(token))
      throw new YamlError(`in [] and {} a text that begins with ? or : has to be in quotes: ${token}`);
    if ((last === 'colon' || last === 'tag') && (type === 'comma' || type.startsWith('flow-')))
      throw new YamlError(`in [] and {} a ${last} needs a blank or a value behind it`);
    if (type === 'flow-map-start' || type === 'flow-seq-start') depth += 1;
    if (type === 'flow-map-end' || type === 'flow-seq-end') depth -= 1;
    if (type === 'map-value-ind' && last === 'text') last = 'colon';
    else if (last !== 'text' || (type !== 'space' && type !== 'newline')) last = type;
  }
}

/** Outside of [] and {} no tab may stand before the first node of a line, or after the dash or ? in front of it. */
function checkTabs(text: string): void {
  let [isBefore, depth, line] = [true, 0, 1];
  for (const token of new Lexer().lex(text)) {
    const type = CST.tokenType(token);
    if (type === 'newline') [isBefore, line] = [true, line + 1];
    else if (type === 'flow-map-start' || type === 'flow-seq-start') depth += 1;
    else if (type === 'flow-map-end' || type === 'flow-seq-end') depth -= 1;
    else if (type === 'space' && isBefore && depth === 0 && token.includes('\t')) {
      throw new YamlError(`a tab indents line ${line}; use spaces`);
    } else if (type !== 'space' && type !== 'seq-item-ind' && type !== 'explicit-key-ind') {
      isBefore = type === 'doc-mode' || type === 'scalar' ? isBefore && type === 'doc-mode' : false;
      line += token.split('\n').length - 1;
    }
  }
}

/** Checks the scalars of a parsed document, whose text this is. Throws YamlError. */
export function checkScalars(text: string, document: Document | undefined): void {
  const separators = [...text.matchAll(/([\s\S])?[\u2028\u2029](?=([\s\S])?)/g)];
  if (separators.length === 0 && !text.includes('\t')) return;
  const quoted: (readonly [number, number])[] = [];
  visit(document ?? null, {
    Scalar(_, { type, range, source = '' }) {
      const isBlock = type === Scalar.BLOCK_LITERAL || type === Scalar.BLOCK_FOLDED;
      if (isBlock && /^\n*\t/.test(source)) throw new YamlError('a tab indents the first line of a block; use spaces');
      if ((type === Scalar.QUOTE_DOUBLE || type === Scalar.QUOTE_SINGLE) && range) quoted.push([range[0], range[1]]);
    },
  });
  // Inside of a quoted text they are kept, if there are no blanks around them to cut.
  for (const { index, 1: before = '', 2: after = '' } of separators) {
    const isKept = quoted.some(([start, end]) => index >= start && index < end) && !/\s/.test(before + after);
    if (!isKept) throw new YamlError('U+2028 and U+2029 are line breaks in YAML; write "\\u2028" in double quotes');
  }
}
