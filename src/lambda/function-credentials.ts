// The default credentials of the AWS SDK in a function. Lambda provides the role's credentials in environment
// variables. A search in profiles, metadata services and single-sign-on caches would only cost bundle size and time.
// The bundler replaces the SDK's default provider with this module.
import { readCredentials } from '../settings.ts';

/** Replaces `defaultProvider` of @aws-sdk/credential-provider-node. */
export function defaultProvider(): () => Promise<ReturnType<typeof readCredentials>> {
  return async () => readCredentials();
}
