// The hash in the name of a template's ReplicaSet or revision. It differs from kube-controller-manager's, which hashes
// Go's own print-out of the template, but has the same format, and equal templates have equal hashes.
import type { PodTemplate } from './objects.ts';

/** The characters of Kubernetes' generated names: no vowels, so that no words arise (apimachinery, util/rand). */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const fnvOffset = 0x811c9dc5;
const fnvPrime = 0x01000193;

/** Hashes a template: FNV-32a of its JSON with sorted keys, written in characters that are valid in a name. */
export function templateHash(template: PodTemplate): string {
  let hash = fnvOffset;
  for (const byte of Buffer.from(JSON.stringify(sorted(template)))) hash = Math.imul(hash ^ byte, fnvPrime) >>> 0;
  return [...Buffer.from(String(hash))].map((digit) => alphabet[digit % alphabet.length]).join('');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, one]) => [name, sorted(one)]));
}
