// The AWS SDK's default credentials, as a function needs them. Lambda puts a role's credentials into the environment of each
// execution environment; looking in profiles, metadata services and sign-on caches would only cost size and time. The
// bundler puts this module where the SDK asks for its default provider.
import { readCredentials } from '../settings.ts';

/** Stands for `defaultProvider` of @aws-sdk/credential-provider-node. */
export function defaultProvider(): () => Promise<ReturnType<typeof readCredentials>> {
  return async () => readCredentials();
}
