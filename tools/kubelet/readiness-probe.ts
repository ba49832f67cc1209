// The command by which a pod of tests says that it is ready, where its spec names one.
import * as z from 'zod';
import type { Pod } from '../../src/simulators/workloads/objects.ts';

const shape = z.looseObject({
  name: z.string(),
  image: z.string().optional(),
  readinessProbe: z.looseObject({ exec: z.looseObject({ command: z.array(z.string()) }) }),
});

/** Returns the first container's probe that is a command; probes of other kinds are taken to succeed. */
export function readinessProbe(
  pod: Pod,
): { readonly container: string; readonly command: readonly string[]; readonly image?: string } | undefined {
  for (const container of pod.spec.containers) {
    const { data } = shape.safeParse(container);
    if (data === undefined) continue;
    const { name, image, readinessProbe: probe } = data;
    return { container: name, command: probe.exec.command, ...(image === undefined ? {} : { image }) };
  }
  return undefined;
}
