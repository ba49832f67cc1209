// Probes that are HTTP requests, asked as a kubelet asks them: startup until it succeeds, then readiness and liveness side by side.
import * as z from 'zod';
import type { Wait } from '../../src/core/time.ts';
import type { Pod } from '../../src/simulators/workloads/objects.ts';

const probe = z.looseObject({
  httpGet: z.looseObject({ path: z.string(), port: z.union([z.string(), z.number()]) }),
  // The API server has filled these in.
  periodSeconds: z.number(),
  timeoutSeconds: z.number(),
  failureThreshold: z.number(),
});
const probed = z.looseObject({
  ports: z.array(z.looseObject({ name: z.string().optional(), containerPort: z.number() })).default([]),
  startupProbe: probe.optional(),
  readinessProbe: probe,
  livenessProbe: probe.optional(),
});
type Probe = z.infer<typeof probe>;

/** The probes of a container. */
export type HttpProbes = z.infer<typeof probed>;

/** What one request of a probe has shown. */
export interface ProbeOutcome {
  readonly probe: 'startup' | 'readiness' | 'liveness';
  readonly ok: boolean;
}

/** Returns the probes of the first container whose readiness is an HTTP request. */
export function httpProbes(pod: Pod): HttpProbes | undefined {
  return pod.spec.containers.map((container) => probed.safeParse(container).data).find((found) => found !== undefined);
}

/** What asking takes. */
export interface ProbeParts {
  readonly ip: string;
  readonly wait: Wait;
  readonly onOutcome: (outcome: ProbeOutcome) => void;
  /** Says the pod ready or not; what it throws is told by saying it again at the next probe. */
  readonly setReady: (ready: boolean) => Promise<void>;
}

/** Probes until the container is to be started anew ('unhealthy'), or the signal aborts ('ended'). */
export async function followProbes(
  { ports, startupProbe, readinessProbe, livenessProbe }: HttpProbes,
  { ip, wait, onOutcome, setReady }: ProbeParts,
  signal: AbortSignal,
): Promise<'unhealthy' | 'ended'> {
  /** Asks again and again, and tells how many times in a row it has failed, until told to stop. */
  const follow = async (
    name: ProbeOutcome['probe'],
    how: Probe,
    hear: (failures: number) => boolean | Promise<boolean>,
  ): Promise<void> => {
    for (let failures = 0; !signal.aborted; ) {
      const ok = await ask(how, ip, ports);
      if (signal.aborted) return;
      onOutcome({ probe: name, ok });
      failures = ok ? 0 : failures + 1;
      if (await hear(failures)) return;
      await wait(how.periodSeconds, signal).catch(() => undefined);
    }
  };
  const isHealthy = async (name: ProbeOutcome['probe'], how: Probe, enough: boolean): Promise<boolean> => {
    let healthy = true;
    await follow(name, how, (failures) => {
      healthy = failures < how.failureThreshold;
      return !healthy || (enough && failures === 0);
    });
    return healthy;
  };
  const followReadiness = async (): Promise<void> => {
    let said: boolean | undefined;
    await follow('readiness', readinessProbe, async (failures) => {
      const ready = failures === 0 || (said === true && failures < readinessProbe.failureThreshold);
      if (ready !== said)
        said = await setReady(ready).then(
          () => ready,
          () => undefined,
        );
      return false;
    });
  };
  if (startupProbe !== undefined && !(await isHealthy('startup', startupProbe, true))) return 'unhealthy';
  const forever = new Promise<boolean>((resolve) => {
    if (signal.aborted) resolve(true);
    signal.addEventListener('abort', () => resolve(true), { once: true });
  });
  void followReadiness();
  const healthy = await (livenessProbe === undefined ? forever : isHealthy('liveness', livenessProbe, false));
  return healthy ? 'ended' : 'unhealthy';
}

async function ask({ httpGet, timeoutSeconds }: Probe, ip: string, ports: HttpProbes['ports']): Promise<boolean> {
  const port = ports.find(({ name }) => name === httpGet.port)?.containerPort ?? httpGet.port;
  try {
    const answer = await fetch(`http://${ip}:${port}${httpGet.path}`, {
      signal: AbortSignal.timeout(timeoutSeconds * 1000),
      redirect: 'manual',
      // A kubelet opens a connection for each probe.
      headers: { connection: 'close' },
    });
    await answer.body?.cancel();
    return answer.status < 400;
  } catch {
    return false;
  }
}
