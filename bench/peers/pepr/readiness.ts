// Pepr does not report when its watches are open, but its HTTP client does:
// https://undici.nodejs.org/#/docs/api/DiagnosticsChannel
import { subscribe, unsubscribe } from 'node:diagnostics_channel';

const channel = 'undici:request:headers';

/** Calls `onReady` when this number of watches of these kinds have a response. */
export function whenWatching(plurals: readonly string[], watches: number, onReady: () => void): void {
  let open = 0;
  const onHeaders = (message: unknown): void => {
    const { request, response } = message as { request: { path: string }; response: { statusCode: number } };
    const { pathname, searchParams } = new URL(request.path, 'https://any');
    if (searchParams.get('watch') !== 'true' || response.statusCode !== 200) return;
    if (!plurals.some((plural) => pathname.endsWith(`/${plural}`))) return;
    open += 1;
    if (open < watches) return;
    unsubscribe(channel, onHeaders);
    onReady();
  };
  subscribe(channel, onHeaders);
}
