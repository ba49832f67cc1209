// Values that are not the same in two runs without faults, such as a password that the controller generates once and
// keeps. No check compares them. The names of objects are compared: a name that varies is found nowhere after a crash.
import { isRecord } from '../../core/json.ts';

/** `Kind/name` → the fields that the controller owns, without values that differ from run to run. */
export type EndState = Readonly<Record<string, unknown>>;

/** The end states of two runs without faults. */
export type TwoRuns = readonly [EndState, EndState];

/** What stands for a value that varies. */
export const varyingText = 'a value that varies';

/** Returns a state in which the values that vary between two runs are the same text. */
export function maskVarying(state: EndState, runs: TwoRuns | undefined): EndState {
  if (runs === undefined) return state;
  const masked = mask(state, ...runs);
  return isRecord(masked) ? masked : state;
}

function mask(value: unknown, first: unknown, second: unknown): unknown {
  if (isRecord(value)) {
    const [left, right] = [isRecord(first) ? first : {}, isRecord(second) ? second : {}];
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, mask(one, left[name], right[name])]));
  }
  if (Array.isArray(value)) {
    const [left, right]: unknown[][] = [Array.isArray(first) ? first : [], Array.isArray(second) ? second : []];
    return value.map((one, index) => mask(one, left?.[index], right?.[index]));
  }
  const isText = typeof value === 'string' && typeof first === 'string' && typeof second === 'string';
  return isText && first !== second ? varyingText : value;
}
