// The address of an API server, held to one rule wherever it comes from: https, or http to this very machine.
import { isLoopback } from '../kube/loopback.ts';
import { ConnectionProblem } from './connection-problem.ts';

/** Parses a server's address. `where` names file and field, for the problem. */
export function parseServer(text: string, where: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new ConnectionProblem(`${where}: not an https address; give one like https://host:6443`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new ConnectionProblem(
      `${where}: carries a user name or password; take them out, API servers do not accept them`,
    );
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new ConnectionProblem(`${where}: ${url.origin} is http on another machine; only https is accepted there`);
  }
  return url;
}
