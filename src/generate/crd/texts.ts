// Texts that no file can bring into a cluster. kustomize and server-side apply write them without an escape into what
// they read as YAML: U+0085 is a line break there, the others are refused. A field called << is a merge for kustomize,
// however it is quoted [tried on kubectl and kube-apiserver 1.36.3].
import { SchemaError } from '../../core/errors.ts';
import { isJsonObject, type Json } from '../../core/json.ts';

/** Throws SchemaError, naming the field, for a text in a part of a CRD that an API server would not get as it is. */
export function rejectTexts(part: Json | undefined, path: string): void {
  if (typeof part === 'string') {
    const [found] = /[\x7f-\x9f\ufffe\uffff]|\p{Cs}/u.exec(part) ?? [];
    if (found === undefined) return;
    const code = found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    throw new SchemaError(path, `${JSON.stringify(part)} has U+${code}, which kubectl apply -k changes or refuses`);
  }
  if (Array.isArray(part)) for (const item of part) rejectTexts(item, path);
  if (!isJsonObject(part)) return;
  for (const [name, member] of Object.entries(part)) {
    rejectTexts(name, path);
    if (name === '<<') throw new SchemaError(path, 'kubectl apply -k drops a field that is called <<; rename it');
    rejectTexts(member, name === 'properties' ? path : path === '' ? name : `${path}.${name}`);
  }
}
