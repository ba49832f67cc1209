// Whose requests an API server in memory receives, which has no credentials: those of a controller's function have
// its User-Agent, and are of the identity that the generated admission policies limit. Every other client is the
// administrator.
import type { Identify } from '@outrigger/apiserver/admission/user';
import { identityOfUserAgent } from '../core/names.ts';

/** Returns the identity of a controller's function; undefined for another client. */
export const identifyFunction: Identify = ({ 'user-agent': userAgent = '' }) => {
  const username = identityOfUserAgent(userAgent);
  return username === undefined ? undefined : { username, groups: [] };
};
