// A control plane of a test file's own, with objects that the administrator has applied, and what its users may do there.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, expect } from 'vitest';
import * as z from 'zod';
import { systemNamespace } from '../../src/core/names.ts';
import { createClient, type KubeClient, type KubeRequest } from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import type { ControlPlane, ControlPlaneOptions } from '../../tools/control-plane/control-plane.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { untilEstablished } from '../support/established.ts';
import { writeKinds } from '../support/sample-manifests.ts';
import { createKubectl, type Kubectl } from './kubectl.ts';

/** The kustomization of the generated kinds, roles and policies. */
export const generated = await writeKinds();

/** A control plane until the end of the file's tests. */
export type UsedPlane = {
  readonly plane: ControlPlane;
  /** In the system's namespace. */
  readonly kubectl: Kubectl;
  /** The client of a user; without one, of the administrator. */
  clientOf(user?: string): KubeClient;
};

/** Starts a control plane. `applies`: objects, or the folder of a kustomization. */
export async function usePlane({
  applies,
  ...options
}: ControlPlaneOptions & { readonly applies?: readonly object[] | string } = {}): Promise<UsedPlane> {
  const plane = await startControlPlane(options);
  afterAll(async () => {
    await plane.stop();
    // It leaves neither files nor processes, which have its folder on their command lines.
    const folder = dirname(plane.kubeconfig());
    const { stdout } = await promisify(execFile)('ps', ['-eo', 'args'], { maxBuffer: 2 ** 24 });
    expect([existsSync(folder), stdout.includes(folder)]).toEqual([false, false]);
  });
  const kubectl = await createKubectl(plane.kubectlPath, plane.kubeconfig(), systemNamespace);
  afterAll(() => kubectl.close());
  if (typeof applies === 'string') await kubectl.output(['apply', '--server-side', '-k', applies]);
  else if (applies !== undefined) {
    const manifest = { apiVersion: 'v1', kind: 'List', items: applies };
    await kubectl.output(['apply', '--server-side', '-f', '-'], { manifest });
  }
  const clients = new Map<string, KubeClient>();
  afterAll(() => {
    for (const client of clients.values()) client.close();
  });
  const clientOf = (user?: string): KubeClient => {
    const client = clients.get(user ?? '') ?? createClient(plane.connection(user));
    clients.set(user ?? '', client);
    return client;
  };
  await untilServed(clientOf());
  return { plane, kubectl, clientOf };
}

/** Resolves when the kind of each definition is served. */
async function untilServed(client: KubeClient): Promise<void> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const { items } = definitions.parse((await client.request({ method: 'GET', path })).body);
  for (const { metadata } of items) await untilEstablished(client, metadata.name);
}

const definitions = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) });

/** A cluster role with one rule, and its binding to users. */
export function grant(name: string, rule: object, users: readonly string[]): readonly object[] {
  const apiGroup = 'rbac.authorization.k8s.io';
  const role = { apiVersion: `${apiGroup}/v1`, metadata: { name } };
  const subjects = users.map((one) => ({ kind: 'User', apiGroup, name: one }));
  return [
    { ...role, kind: 'ClusterRole', rules: [rule] },
    { ...role, kind: 'ClusterRoleBinding', roleRef: { apiGroup, kind: 'ClusterRole', name }, subjects },
  ];
}

/** Returns `allowed`, or the message of a refusal by the API server. Every other error is thrown. */
export async function answerTo(
  client: KubeClient,
  request: KubeRequest,
  isRefusal = (error: unknown): boolean => error instanceof ApiError,
): Promise<string> {
  try {
    await client.request(request);
    return 'allowed';
  } catch (error) {
    if (error instanceof Error && isRefusal(error)) return error.message;
    throw error;
  }
}

/** Resolves when a new policy is effective, which only its effect shows. */
export async function untilEffective(isEffective: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await isEffective()); await wait(100))
    if (Date.now() > deadline) throw new Error('the policy did not become effective');
}
