// Which requests are watches, for those who break only these.
import type { Asked } from './chaos-proxy.ts';

/** Tells whether a request opens a watch. */
export function isWatch({ url }: Pick<Asked, 'url'>): boolean {
  return /[?&]watch=(true|1)\b/.test(url);
}
