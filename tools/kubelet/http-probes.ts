// HTTP probes as a kubelet runs them: startup until it succeeds, then readiness and liveness side by side.

import type { Pod } from '@outrigger/apiserver/workloads/objects';
import * as z from 'zod';
import type { Wait } from '../../src/core/time.ts';

const probe = z.looseObject({
  httpGet: z.looseObject({ path: z.string(), port: z.union([z.string(), z.number()]) }),
  // The API server has set the defaults.
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

/** The result of one probe request. */
export type ProbeOutcome = {
  readonly probe: 'startup' | 'readiness' | 'liveness';
  readonly ok: boolean;
};

/** Returns the probes of the first container with an HTTP readiness probe. */
export function httpProbes(pod: Pod): HttpProbes | undefined {
  return pod.spec.containers.map((container) => probed.safeParse(container).data).find((found) => found !== undefined);
}

/** The dependencies of probes. */
export type ProbeDeps = {
  readonly ip: string;
  readonly wait: Wait;
  readonly onOutcome: (outcome: ProbeOutcome) => void;
  /** Sets the pod ready or not; when it throws, it is called again after the next probe. */
  readonly setReady: (ready: boolean) => Promise<void>;
};

/** Probes until the container has to be restarted ('unhealthy'), or the signal aborts ('ended'). */
export async function runProbes(
  { ports, startupProbe, readinessProbe, livenessProbe }: HttpProbes,
  { ip, wait, onOutcome, setReady }: ProbeDeps,
  signal: AbortSignal,
): Promise<'unhealthy' | 'ended'> {
  /** Runs a probe repeatedly and passes the number of consecutive failures, until `onFailures` returns true. */
  const repeat = async (
    name: ProbeOutcome['probe'],
    settings: Probe,
    onFailures: (failures: number) => boolean | Promise<boolean>,
  ): Promise<void> => {
    for (let failures = 0; !signal.aborted; ) {
      const ok = await probeOnce(settings, ip, ports);
      if (signal.aborted) return;
      onOutcome({ probe: name, ok });
      failures = ok ? 0 : failures + 1;
      if (await onFailures(failures)) return;
      await wait(settings.periodSeconds, signal).catch(() => undefined);
    }
  };
  const isHealthy = async (name: ProbeOutcome['probe'], settings: Probe, endsOnSuccess: boolean): Promise<boolean> => {
    let healthy = true;
    await repeat(name, settings, (failures) => {
      healthy = failures < settings.failureThreshold;
      return !healthy || (endsOnSuccess && failures === 0);
    });
    return healthy;
  };
  const followReadiness = async (): Promise<void> => {
    let reported: boolean | undefined;
    await repeat('readiness', readinessProbe, async (failures) => {
      const ready = failures === 0 || (reported === true && failures < readinessProbe.failureThreshold);
      if (ready !== reported)
        reported = await setReady(ready).then(
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

async function probeOnce({ httpGet, timeoutSeconds }: Probe, ip: string, ports: HttpProbes['ports']): Promise<boolean> {
  const port = ports.find(({ name }) => name === httpGet.port)?.containerPort ?? httpGet.port;
  try {
    const response = await fetch(`http://${ip}:${port}${httpGet.path}`, {
      signal: AbortSignal.timeout(timeoutSeconds * 1000),
      redirect: 'manual',
      // A kubelet opens a new connection for each probe.
      headers: { connection: 'close' },
    });
    await response.body?.cancel();
    return response.status < 400;
  } catch {
    return false;
  }
}
