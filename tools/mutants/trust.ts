// What nobody from outside may make us do, each undone once: say a credential, trust a server that proved nothing, go where another
// sends us, look for what a message cannot name.
import { type Mutant, swap } from './mutant.ts';

/** Of what is said. */
export const sayingMutants: readonly Mutant[] = [
  swap(
    'a password with an @ is cut out in part',
    'src/core/redact.ts',
    '[/(\\w+:\\/\\/)[^\\s/"\'<>]+@/g',
    '[/(\\w+:\\/\\/)[^\\s/@"\'<>]+@/g',
  ),
  swap(
    'an Event says what it is told',
    'src/reconciling/reconcile.ts',
    'message: redact(text), report',
    'message: text, report',
  ),
  swap(
    'a queue that gives no depth is quoted',
    'src/resync/list-kind.ts',
    'error: redact(toError(error).message) });\n    return false;',
    'error: toError(error).message });\n    return false;',
  ),
  swap('YAML’s warnings go to stderr', 'src/clusters/kubeconfig/parse-kubeconfig.ts', "{ logLevel: 'error' }", '{}'),
];

/** Of servers. */
export const serverMutants: readonly Mutant[] = [
  swap('a redirect of a world is followed', 'src/controllers/clients/fetch-json.ts', "'manual'", "'follow'"),
  swap(
    'certificates are verified as the environment says',
    'src/kube/client/transport.ts',
    'rejectUnauthorized: connection.insecureSkipTlsVerify !== true,',
    "rejectUnauthorized: process.env.NODE_TLS_REJECT_UNAUTHORIZED !== '0',",
  ),
  swap('a process runs where nothing is verified', 'src/settings.ts', "value !== '0'", "value !== ''"),
  swap(
    'an answer of any length is read',
    'src/kube/client/response.ts',
    'if (text.length > limit)',
    'if (text.length > 100 * limit)',
  ),
];

/** Of messages. */
export const messageMutants: readonly Mutant[] = [
  swap(
    'a message without its namespace is looked for',
    'src/reconciling/misplaced.ts',
    'if (namespaced === (namespace !== undefined)) return undefined;',
    'if (namespaced || namespace === undefined) return undefined;',
  ),
  swap(
    'half a character is a name',
    'src/sqs/body.ts',
    'isPathSegment(name) && name.isWellFormed()',
    'isPathSegment(name)',
  ),
];
