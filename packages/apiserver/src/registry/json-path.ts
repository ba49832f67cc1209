// The part of JSONPath that printer columns use: `.a.b`, `.a\.b`, `['a.b']`, `[0]`, `[*]`, `[?(@.type=="Ready")]`.
import { isList, isObject, type Json } from '../json.ts';

type Step = (value: Json) => readonly Json[];

/** Compiles a path. An unsupported path finds nothing. */
export function jsonPath(path: string): (value: Json) => readonly Json[] {
  const steps = parse(path.replace(/^\{|\}$/g, '').replace(/^\$/, ''));
  if (steps === undefined) return () => [];
  return (value) => steps.reduce<readonly Json[]>((found, step) => found.flatMap(step), [value]);
}

const filterPattern = /^\[\?\(@\.([\w.-]+)\s*(==|!=)\s*(?:"([^"]*)"|'([^']*)'|([\w.-]+))\)\]/;

function parse(path: string): Step[] | undefined {
  const steps: Step[] = [];
  let rest = path;
  while (rest !== '') {
    const name = /^\.((?:\\.|[^.[\\])+)/.exec(rest);
    const quoted = /^\['((?:[^'\\]|\\.)*)'\]/.exec(rest);
    const index = /^\[(-?\d+|\*)\]/.exec(rest);
    const filter = filterPattern.exec(rest);
    if (name?.[1] !== undefined) steps.push(name[1] === '*' ? allValues : field(name[1].replaceAll(/\\(.)/g, '$1')));
    else if (quoted?.[1] !== undefined) steps.push(field(quoted[1].replaceAll(/\\(.)/g, '$1')));
    else if (index?.[1] !== undefined) steps.push(index[1] === '*' ? allValues : item(Number(index[1])));
    else if (filter !== null) steps.push(filterItems(filter));
    else return undefined;
    rest = rest.slice((name ?? quoted ?? index ?? filter)?.[0].length ?? rest.length);
  }
  return steps;
}

function field(name: string): Step {
  return (value) => (isObject(value) && value[name] !== undefined ? [value[name]] : []);
}

function item(index: number): Step {
  return (value) => {
    const found = isList(value) ? value.at(index) : undefined;
    return found === undefined ? [] : [found];
  };
}

function allValues(value: Json): readonly Json[] {
  if (isList(value)) return value;
  return isObject(value) ? Object.values(value) : [];
}

function filterItems([, path = '', operator, double, single, bare]: RegExpExecArray): Step {
  const expected = double ?? single ?? bare ?? '';
  const find = parse(`.${path}`) ?? [];
  return (value) =>
    (isList(value) ? value : []).filter((candidate) => {
      const [found] = find.reduce<readonly Json[]>((values, step) => values.flatMap(step), [candidate]);
      return (found !== undefined && String(found) === expected) === (operator === '==');
    });
}
