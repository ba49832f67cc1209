// Prepares a container's environment and files from its spec, read from the cluster at its start.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Pod } from '@outrigger/apiserver/workloads/objects';
import * as z from 'zod';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { objectPath } from '../../src/kube/client/path.ts';

const item = z.object({ key: z.string(), path: z.string() });
const source = z.strictObject({
  serviceAccountToken: z
    .object({ path: z.string(), audience: z.string().optional(), expirationSeconds: z.number() })
    .optional(),
  configMap: z.object({ name: z.string(), items: z.array(item) }).optional(),
  downwardAPI: z
    .object({ items: z.array(z.object({ path: z.string(), fieldRef: z.looseObject({ fieldPath: z.string() }) })) })
    .optional(),
});
const spec = z.looseObject({
  serviceAccountName: z.string(),
  terminationGracePeriodSeconds: z.number(),
  volumes: z
    .array(z.strictObject({ name: z.string(), projected: z.looseObject({ sources: z.array(source) }) }))
    .default([]),
});
const container = z.looseObject({
  command: z.undefined().optional(),
  args: z.array(z.string()).default([]),
  env: z.array(z.strictObject({ name: z.string(), value: z.string().default('') })).default([]),
  envFrom: z.array(z.strictObject({ configMapRef: z.strictObject({ name: z.string() }) })).default([]),
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })).default([]),
  securityContext: z.looseObject({ readOnlyRootFilesystem: z.boolean().default(false) }).prefault({}),
});

/** A container that is about to run. */
export type PreparedContainer = {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Folders on this machine by mount path. */
  readonly mounts: Readonly<Record<string, string>>;
  readonly readOnly: boolean;
  readonly graceSeconds: number;
};

const apiObject = z.looseObject({ data: z.record(z.string(), z.string()).default({}) });
const tokenResponse = z.looseObject({ status: z.looseObject({ token: z.string() }) });

/** Prepares a pod's first container, with its files in a folder. Throws for a spec that is not supported here. */
export async function prepareContainer(client: KubeClient, pod: Pod, folder: string): Promise<PreparedContainer> {
  const { namespace, name, uid } = pod.metadata;
  const { serviceAccountName, terminationGracePeriodSeconds, volumes } = spec.parse(pod.spec);
  const { args, env, envFrom, volumeMounts, securityContext } = container.parse(pod.spec.containers[0]);

  const core = (plural: string) => ({ group: '', version: 'v1', plural, namespaced: true });
  const configMap = async (configMapName: string): Promise<Readonly<Record<string, string>>> => {
    const path = objectPath(core('configmaps'), { namespace, name: configMapName });
    return apiObject.parse((await client.request({ method: 'GET', path })).body).data;
  };
  const token = async (audience: string | undefined, expirationSeconds: number): Promise<string> => {
    const { body } = await client.request({
      method: 'POST',
      path: objectPath(core('serviceaccounts'), { namespace, name: serviceAccountName }, 'token'),
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: {
          audiences: audience === undefined ? [] : [audience],
          expirationSeconds,
          boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
        },
      },
    });
    return tokenResponse.parse(body).status.token;
  };
  const filesOf = async (one: z.infer<typeof source>): Promise<readonly (readonly [path: string, text: string])[]> => {
    if (one.serviceAccountToken !== undefined) {
      const { path, audience, expirationSeconds } = one.serviceAccountToken;
      return [[path, await token(audience, expirationSeconds)]];
    }
    if (one.configMap !== undefined) {
      const data = await configMap(one.configMap.name);
      return one.configMap.items.map(({ key, path }) => [path, data[key] ?? '']);
    }
    return (one.downwardAPI?.items ?? []).map(({ path, fieldRef }) => {
      if (fieldRef.fieldPath !== 'metadata.namespace') throw new Error(`${fieldRef.fieldPath} is not supported`);
      return [path, namespace];
    });
  };

  const mounts: Record<string, string> = {};
  for (const mount of volumeMounts) {
    const volume = volumes.find((one) => one.name === mount.name);
    const target = join(folder, mount.name);
    for (const [path, text] of (await Promise.all((volume?.projected.sources ?? []).map(filesOf))).flat()) {
      await mkdir(dirname(join(target, path)), { recursive: true });
      await writeFile(join(target, path), text, { mode: 0o600 });
    }
    mounts[mount.mountPath] = target;
  }
  const environment: Record<string, string> = {};
  for (const { configMapRef } of envFrom) Object.assign(environment, await configMap(configMapRef.name));
  for (const { name: variable, value } of env) environment[variable] = value;
  return {
    args,
    environment,
    mounts,
    readOnly: securityContext.readOnlyRootFilesystem,
    graceSeconds: terminationGracePeriodSeconds,
  };
}
