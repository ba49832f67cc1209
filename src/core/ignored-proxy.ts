// A proxy that the environment asks for. The clients of API servers and of AWS use none, which someone behind a proxy
// would otherwise see as requests without an answer.

const proxyVariables = ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'] as const;

/**
 * Returns a line about a proxy that the environment asks for, as curl and kubectl use it, and Outrigger does not.
 * Undefined without one, and if NO_PROXY is `*`. It does not quote the address, which may hold a password.
 */
export function ignoredProxy(from: Readonly<Record<string, string | undefined>>): string | undefined {
  const name = proxyVariables.find((one) => (from[one] ?? '') !== '');
  const isOff = (from.NO_PROXY ?? from.no_proxy ?? '').split(/[\s,]+/).includes('*');
  if (name === undefined || isOff) return undefined;
  return `${name} is set and not used: API servers and AWS are reached directly; NO_PROXY=* hides this line`;
}
