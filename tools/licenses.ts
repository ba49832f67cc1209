// Lists the license of each package of an SBOM (CycloneDX), for a release. Fails for a package without one, and for one
// whose license is not known to permit what we do: somebody has to read it first.
import { readFileSync } from 'node:fs';
import * as z from 'zod';

/** Permissive licenses: they ask for a notice at most. */
const known = [
  'MIT',
  'MIT-0',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  '0BSD',
  'PSF-2.0',
  'Unlicense',
];

const license = z.object({
  expression: z.string().optional(),
  license: z.object({ id: z.string().optional(), name: z.string().optional() }).optional(),
});
const bom = z.object({
  components: z.array(z.object({ name: z.string(), version: z.string(), licenses: z.array(license).default([]) })),
});

const [file = 'outrigger.cdx.json'] = process.argv.slice(2);
const { components } = bom.parse(JSON.parse(readFileSync(file, 'utf8')));
const lines = components.map(({ name, version, licenses }) => {
  const texts = licenses.map((one) => one.expression ?? one.license?.id ?? one.license?.name ?? '');
  return { title: `${name} ${version}`, text: texts.join(' AND ') };
});
for (const { title, text } of lines) process.stdout.write(`${title}: ${text}\n`);
const unknown = lines.filter(
  ({ text }) =>
    !text
      .split(/ AND |[()]/)
      .filter(Boolean)
      .every((id) => known.includes(id)),
);
const isUnknown = unknown.length > 0 || lines.some(({ text }) => text === '');
if (isUnknown) process.stderr.write(`licenses to be read: ${unknown.map(({ title }) => title).join(', ')}\n`);
process.exitCode = isUnknown ? 1 : 0;
