// The ids of statements at the start of a test's name: `W3: ...`, `M2, M3: ...`. A family alone (`W: ...`) is its bad input.

const id = '(?:BK|TN|[WIBMFCVX])(?:\\d+[a-z]?)?';
const leading = new RegExp(`^(${id}(?:, ${id})*)(?:, bad input)?: `);

/** Lists the ids that a test's name starts with. */
export function statementIds(name: string): readonly string[] {
  return leading.exec(name)?.[1]?.split(', ') ?? [];
}
