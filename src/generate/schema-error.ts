/** What a controller's author wrote that cannot be generated from, named by its path. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';

  constructor(path: string, problem: string) {
    super(`${path}: ${problem}`);
  }
}
