// Job → Pods: as many pods as completions, parallelism at a time, until all have succeeded (job_controller.go). Without
// a kubelet no pod fails, so backoff, deadlines and failure policies have nothing to do.
import { claim, controllerReference } from './claim.ts';
import type { WorkloadCluster } from './cluster.ts';
import { isActive, jobs, pods, type WorkloadKey } from './objects.ts';

/** Reconciles a Job. A finished one, and one that is suspended, is left as it is. */
export async function reconcileJob(cluster: WorkloadCluster, key: WorkloadKey, now: () => Date): Promise<void> {
  const job = await cluster.get(jobs, key);
  if (job === undefined || job.metadata.deletionTimestamp !== undefined || job.spec.suspend === true) return;
  if (job.status?.conditions?.some(({ type, status }) => type === 'Complete' && status === 'True') === true) return;
  const { selector = {}, template, parallelism = 1, completions = parallelism } = job.spec;
  const claimed = await claim(cluster, pods, { kind: jobs, object: job, selector });
  const succeeded = claimed.filter(({ status }) => status?.phase === 'Succeeded').length;
  let active = claimed.filter(isActive).length;
  for (; active < Math.min(parallelism, completions - succeeded); active += 1) {
    const metadata = {
      ...template.metadata,
      generateName: `${job.metadata.name}-`,
      ownerReferences: [controllerReference(jobs, job)],
    };
    await cluster.create(pods, job.metadata.namespace, { metadata, spec: template.spec });
  }
  const time = now().toISOString().replace(/\.\d+/, '');
  const isComplete = succeeded >= completions && active === 0;
  const ended = (type: string) => ({
    type,
    status: 'True',
    reason: 'CompletionsReached',
    message: 'Reached expected number of succeeded pods',
    lastProbeTime: time,
    lastTransitionTime: time,
  });
  const status = {
    startTime: time,
    ...job.status,
    // Zero values are omitted, as Go's omitempty does.
    active: active === 0 ? undefined : active,
    ready: 0,
    succeeded: succeeded === 0 ? undefined : succeeded,
    terminating: 0,
    uncountedTerminatedPods: {},
    ...(isComplete ? { completionTime: time, conditions: [ended('SuccessCriteriaMet'), ended('Complete')] } : {}),
  };
  // As JSON: without the fields that are undefined.
  await cluster.replaceStatus(jobs, job, { ...job, status: JSON.parse(JSON.stringify(status)) as object });
}
