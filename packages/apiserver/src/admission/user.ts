// Who sends a request. The server checks no credentials, so by default every client is the administrator. A request can
// be another user's in two ways: by impersonation, as with `kubectl --as` on a real server, and by `identify`, with
// which whoever starts the server tells its clients apart.
import type { IncomingHttpHeaders } from 'node:http';

/** A user, as authentication and admission policies see it. */
export type User = { readonly username: string; readonly groups: readonly string[] };

/** Returns the user who sends requests with these headers; undefined for the administrator. */
export type Identify = (headers: IncomingHttpHeaders) => User | undefined;

const authenticated = 'system:authenticated';
const administrator: User = { username: 'kubernetes-admin', groups: ['system:masters'] };

/** Returns the user of a request (kubernetes.io, "User impersonation"). */
export function userOf(headers: IncomingHttpHeaders, identify: Identify = () => undefined): User {
  const { username, groups } = impersonated(headers) ?? identify(headers) ?? administrator;
  return { username, groups: [...groups, authenticated] };
}

function impersonated(headers: IncomingHttpHeaders): User | undefined {
  const username = headers['impersonate-user'];
  if (typeof username !== 'string') return undefined;
  // Node joins the values of a header that is sent more than once.
  const groups = String(headers['impersonate-group'] ?? '').split(', ');
  return { username, groups: groups.filter((group) => group !== '') };
}
