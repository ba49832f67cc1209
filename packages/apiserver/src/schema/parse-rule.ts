// Parses CEL rules. A rule is parsed once for all servers of a process: that costs more than most requests.
import { parse } from '@bufbuild/cel';
import { withoutOptionals } from './optionals.ts';

/** A parsed rule. */
export type ParsedRule = ReturnType<typeof parse>;

const parsed = new Map<string, ParsedRule>();

/** Parses a rule. Throws the error of its syntax. */
export function parseRule(rule: string): ParsedRule {
  const known = parsed.get(rule) ?? parse(withoutOptionals(rule));
  parsed.set(rule, known);
  return known;
}
