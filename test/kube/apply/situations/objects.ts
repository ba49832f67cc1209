// The desired children of the situations: what each kind needs, and what a situation is about.
import type { Loose } from './stage.ts';

export const data = (values: Loose): Loose => ({ data: values });

/** A Service with these ports: `http: 80`. */
export const service = (ports: Readonly<Record<string, number>>, more: Loose = {}): Loose => ({
  spec: {
    selector: { app: 'a' },
    ports: Object.entries(ports).map(([name, port]) => ({ name, port })),
    ...more,
  },
});

const labels = { a: 'b' };

/** A pod template with one container `c`. */
export const template = (container: Loose = {}, pod: Loose = {}, more: Loose = {}): Loose => ({
  metadata: { labels, ...more },
  spec: { containers: [{ name: 'c', image: 'i', ...container }], ...pod },
});

/** A Deployment or a DaemonSet. */
export const workload = (spec: Loose = {}, container: Loose = {}, pod: Loose = {}): Loose => ({
  spec: { selector: { matchLabels: labels }, template: template(container, pod), ...spec },
});

export const statefulSet = (spec: Loose = {}): Loose => workload({ serviceName: 's', ...spec });

export const job = (spec: Loose = {}, container: Loose = {}): Loose => ({
  spec: {
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i', ...container }] } },
    ...spec,
  },
});

/** A Deployment with one volume. */
export const withVolume = (source: Loose): Loose =>
  workload({}, { volumeMounts: [{ name: 'v', mountPath: '/v' }] }, { volumes: [{ name: 'v', ...source }] });

export const autoscaler = (...metrics: Loose[]): Loose => ({
  spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, maxReplicas: 5, metrics },
});

export const cpuMetric = (averageUtilization: number): Loose => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});

export const claimOf = (storage: string): Loose => ({
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
});

export const binding = (role: string): Loose => ({
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
  subjects: [{ kind: 'User', name: 'u' }],
});

export const ingressTo = (backend: Loose): Loose => ({ spec: { defaultBackend: backend } });
