// The CEL expression that two maps are equal but for some keys. CEL has no difference of maps, so each is compared with
// the other.

/** Makes the expression. `maps` are two expressions; a struct is given as `dyn(...)`, whose fields are then keys. */
export function sameMap(maps: readonly string[], except: readonly string[]): string {
  const [one = '', other = ''] = maps;
  if (except.length === 0) return `${one} == ${other}`;
  const excepted = `key in [${except.map((key) => JSON.stringify(key)).join(', ')}]`;
  const each = (a: string, b: string) => `${a}.all(key, ${excepted} || (key in ${b} && ${b}[key] == ${a}[key]))`;
  return `${each(one, other)} && ${each(other, one)}`;
}
