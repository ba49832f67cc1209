// The hash that names a template: other than kube-controller-manager's (which hashes Go's own print-out of the template), but of
// the same looks, and the same for the same template.
import type { PodTemplate } from './objects.ts';

/** Kubernetes' letters for generated names: no vowels, so that no words arise (apimachinery, util/rand). */
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** Hashes a template: FNV-32a of its JSON with sorted keys, in letters that a name may have. */
export function templateHash(template: PodTemplate): string {
  let hash = FNV_OFFSET;
  for (const byte of Buffer.from(JSON.stringify(sorted(template)))) hash = Math.imul(hash ^ byte, FNV_PRIME) >>> 0;
  return [...Buffer.from(String(hash))].map((digit) => LETTERS[digit % LETTERS.length]).join('');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, one]) => [name, sorted(one)]));
}
