// Prints what is built from the project in the current folder, as JSON. entries.ts runs it in a process of its own.
import { SchemaError, toError, UserError } from 'outrigger/internal/core/errors';
import { entriesOf } from './entries.ts';

try {
  process.stdout.write(JSON.stringify(await entriesOf(process.cwd())));
} catch (thrown) {
  const error = toError(thrown);
  const isForPeople = error instanceof UserError || error instanceof SchemaError;
  process.stderr.write(isForPeople ? error.message : (error.stack ?? error.message));
  process.exitCode = 1;
}
