// The access entries of an EKS cluster: which AWS role is admitted, and in which groups. Requests are signed here, as
// those to STS and IAM.
//
// Sources: Amazon EKS API reference, CreateAccessEntry, UpdateAccessEntry, DeleteAccessEntry.

import { toError, UserError } from '../../core/errors.ts';
import { rememberCredentials } from '../../core/known-secrets.ts';
import { partitionOf } from '../../signing/partition.ts';
import { signedHeaders } from '../../signing/signature.ts';
import type { AwsCaller } from './aws-identity.ts';

/** The access entries of one cluster. All functions throw a UserError. */
export type EksAccessEntries = {
  /** Admits a role, in one group. */
  put(role: string, group: string): Promise<void>;
  /** Removes the entry of a role, if there is one. */
  remove(role: string): Promise<void>;
};

const deadlineMilliseconds = 10_000;

/** Opens the access entries of a cluster, by its name in EKS. */
export function eksAccessEntries(
  { cluster, region }: { readonly cluster: string; readonly region: string },
  caller: Omit<AwsCaller, 'region'>,
): EksAccessEntries {
  const entries = `/clusters/${encodeURIComponent(cluster)}/access-entries`;
  const entry = (role: string) => `${entries}/${encodeURIComponent(role)}`;
  const fail = (what: string, { status, text }: Answer, action: string) => {
    const reason = status === 403 ? `; you need ${action}` : reasonOf(text);
    return new UserError(`EKS cluster ${cluster}: ${what}: EKS answered ${status}${reason}`);
  };
  return {
    put: async (role, group) => {
      const kubernetesGroups = [group];
      const created = await send(caller, region, {
        method: 'POST',
        path: entries,
        body: { principalArn: role, kubernetesGroups },
      });
      if (created.status === 200) return;
      if (created.status !== 409) throw fail(`entry of ${role} not created`, created, 'eks:CreateAccessEntry');
      const updated = await send(caller, region, { method: 'POST', path: entry(role), body: { kubernetesGroups } });
      if (updated.status !== 200) throw fail(`entry of ${role} not updated`, updated, 'eks:UpdateAccessEntry');
    },
    remove: async (role) => {
      const removed = await send(caller, region, { method: 'DELETE', path: entry(role) });
      if (removed.status !== 200 && removed.status !== 404)
        throw fail(`entry of ${role} not deleted`, removed, 'eks:DeleteAccessEntry');
      // A 404 is also the answer for an unknown cluster.
      if (removed.status === 404 && /No cluster found/i.test(removed.text))
        throw fail('is unknown', removed, 'eks:DeleteAccessEntry');
    },
  };
}

type Answer = { readonly status: number; readonly text: string };

async function send(
  { credentials, endpoint, now }: Omit<AwsCaller, 'region'>,
  region: string,
  { method, path, body }: { readonly method: 'POST' | 'DELETE'; readonly path: string; readonly body?: object },
): Promise<Answer> {
  const url = new URL(path, endpoint ?? `https://eks.${region}.${partitionOf(region).dnsSuffix}`);
  const text = body === undefined ? undefined : JSON.stringify(body);
  try {
    const contentType = text === undefined ? {} : { 'content-type': 'application/json' };
    const headers = signedHeaders(
      { method, path: url.pathname, headers: { host: url.host, ...contentType }, body: text },
      { credentials: rememberCredentials(await credentials()), region, service: 'eks', at: now() },
    );
    const signal = AbortSignal.timeout(deadlineMilliseconds);
    const response = await fetch(url, { method, headers, body: text ?? null, redirect: 'error', signal });
    return { status: response.status, text: (await response.text()).slice(0, 4096) };
  } catch (error) {
    throw new UserError(`${url.host}: ${toError(error).message}`, { cause: error });
  }
}

function reasonOf(text: string): string {
  const reason = /"message"\s*:\s*"([^"\\]{1,300})"/i.exec(text)?.[1];
  return reason === undefined ? '' : ` (${reason})`;
}
