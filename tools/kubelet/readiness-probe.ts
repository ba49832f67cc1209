// The exec readiness probe of a pod, if its spec has one.

import type { Pod } from '@outrigger/apiserver/workloads/objects';
import * as z from 'zod';

const probedContainer = z.looseObject({
  name: z.string(),
  image: z.string().optional(),
  readinessProbe: z.looseObject({ exec: z.looseObject({ command: z.array(z.string()) }) }),
});

/** Returns the first container's exec probe; other probes count as successful. */
export function readinessProbe(
  pod: Pod,
): { readonly container: string; readonly command: readonly string[]; readonly image?: string } | undefined {
  for (const container of pod.spec.containers) {
    const { data } = probedContainer.safeParse(container);
    if (data === undefined) continue;
    const { name, image, readinessProbe: probe } = data;
    return { container: name, command: probe.exec.command, ...(image === undefined ? {} : { image }) };
  }
  return undefined;
}
