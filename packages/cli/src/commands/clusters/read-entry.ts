// Reads the entry of a cluster from a file, for the commands that write it into a table.
import { readFile } from 'node:fs/promises';
import { connectionOf } from 'outrigger/internal/clusters/connection';
import { parseEntry } from 'outrigger/internal/clusters/registry/entry';
import { UserError } from 'outrigger/internal/core/errors';
import { isRecord, parseJson } from 'outrigger/internal/core/json';
import { awsAccess } from '../stage-table.ts';

/**
 * Reads and validates an entry: its fields, its address, its certificates. Throws a UserError that names the file and
 * the field.
 */
export async function readEntry(name: string, file: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new UserError(`${file}: cannot be read; give a JSON file with the entry of "${name}"`, { cause: error });
  }
  const value = parseJson(text);
  if (!isRecord(value)) {
    const problem = value === undefined ? 'not JSON' : 'not a JSON object';
    throw new UserError(`${file}: ${problem}; give the entry of "${name}", as outrigger clusters add --help shows it`);
  }
  await checkEntry(name, value).catch((error: unknown) => {
    throw error instanceof UserError ? new UserError(`${file}: ${error.message}`, { cause: error }) : error;
  });
  return value;
}

async function checkEntry(name: string, value: unknown): Promise<void> {
  const entry = parseEntry(name, value, 'the entry');
  const { access } = entry;
  const { credentials, now } = awsAccess({});
  if (access.type !== 'secret') await connectionOf(name, { ...entry, access }, { now, credentials });
  else if (access.holds === 'token')
    await connectionOf(name, { ...entry, access: { type: 'token', token: 'unknown' } }, { now, credentials });
}
