// A key is read without its kind at hand; whether it can name an object of that kind is known only where the kind is.
import type { Kind } from '../core/kind.ts';
import type { Message } from '../queue/message.ts';

/** Says why a message names no object that could ever be: its kind lives in namespaces and it names none, or the reverse. */
export function misplaced({ plural, namespaced }: Kind, { namespace }: Message): Error | undefined {
  if (namespaced === (namespace !== undefined)) return undefined;
  return new Error(`namespace: ${plural} live in ${namespaced ? 'a namespace, and none is named' : 'no namespace'}`);
}
