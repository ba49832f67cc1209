// Validates the address of an API server from any source: https, or http to a loopback address.
import { UserError } from '../../core/errors.ts';
import { isLoopback } from '../../kube/client/connection.ts';

/** Parses a server's address. `where` names file and field, for the error. */
export function parseServer(text: string, where: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new UserError(`${where}: not an https address; give one like https://host:6443`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new UserError(`${where}: contains a user name or password; remove them, API servers do not accept them`);
  }
  if (url.search !== '' || url.hash !== '') {
    throw new UserError(`${where}: contains a query or a fragment; remove what follows the ? or #`);
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new UserError(`${where}: ${url.origin} is http on another machine; only https is accepted there`);
  }
  return url;
}
