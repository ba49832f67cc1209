// A rehearsal must not open valves. What a controller's own clients do outside the cluster is nobody's to record and to answer
// but theirs; so reads go through, and at the first call that might change something the rehearsal ends. It sees calls by the
// global `fetch`, which is how clients of ours call; one that brings another HTTP client is not seen.

/** A call that was not made. */
class OutsideCall extends Error {
  override readonly name = 'OutsideCall';
}

const harmless = ['GET', 'HEAD', 'OPTIONS'];

/** Replaces the global `fetch` until it is disposed. `onRefused` is told of each call that is not made. */
export function guardFetch(onRefused: (call: string) => void): Disposable {
  const real = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    if (harmless.includes(request.method)) return await real(input, init);
    const { origin, pathname } = new URL(request.url);
    const call = `${request.method} ${origin}${pathname}`;
    onRefused(call);
    throw new OutsideCall(`${call} is not done in a rehearsal`);
  };
  return {
    [Symbol.dispose]: () => {
      globalThis.fetch = real;
    },
  };
}
