// Each safeguard against input from outside removed once: redaction of credentials, verification of servers, redirects, and the
// validation of messages.
import { type Mutant, swap } from './mutant.ts';

/** Redaction. */
export const sayingMutants: readonly Mutant[] = [
  swap(
    'redacts a password with an @ in part',
    'src/core/redact.ts',
    '[/(\\w{1,20}:\\/\\/)[^\\s/"\'<>]+@/g',
    '[/(\\w{1,20}:\\/\\/)[^\\s/@"\'<>]+@/g',
  ),
  swap(
    'does not redact an Event',
    'src/kube/apply/events.ts',
    'const message = redact(request.message);',
    'const { message } = request;',
  ),
  swap('does not redact the error of a log line', 'src/core/log.ts', '? redact(value) :', '? value :'),
];

/** Servers. */
export const serverMutants: readonly Mutant[] = [
  swap('follows redirects of an external service', 'src/controllers/clients/fetch-json.ts', "'manual'", "'follow'"),
  swap(
    'lets the environment turn off TLS verification',
    'src/kube/client/transport.ts',
    'rejectUnauthorized: connection.insecureSkipTlsVerify !== true,',
    "rejectUnauthorized: process.env.NODE_TLS_REJECT_UNAUTHORIZED !== '0',",
  ),
  swap('starts although TLS verification is turned off', 'src/settings.ts', "value !== '0'", "value !== ''"),
  swap(
    'reads responses of any length',
    'src/kube/client/answer.ts',
    'if (this.#bytes > this.#limits.bytes)',
    'if (this.#bytes > 100 * this.#limits.bytes)',
  ),
];

/** Messages. */
export const messageMutants: readonly Mutant[] = [
  swap(
    'reads the object of a message without its namespace',
    'src/reconciling/pass/observe.ts',
    'if (namespaced === (namespace !== undefined)) return undefined;',
    'if (namespaced || namespace === undefined) return undefined;',
  ),
  swap('accepts a path for a name', 'src/core/key.ts', ' && !/[/%]/.test(name)', ''),
  swap('accepts half a character in a name', 'src/core/key.ts', ' && name.isWellFormed()', ''),
];
