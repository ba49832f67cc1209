// The access entries of an EKS cluster: which AWS role is admitted, and in which groups.
//
// Sources: Amazon EKS API reference, CreateAccessEntry, UpdateAccessEntry, DeleteAccessEntry.

import { type AwsCaller, type AwsResponse, sendSigned } from 'outrigger/internal/clusters/auth/aws-identity';
import { UserError } from 'outrigger/internal/core/errors';
import { partitionOf } from 'outrigger/internal/signing/partition';

/** The access entries of one cluster. All functions throw a UserError. */
export type EksAccessEntries = {
  /** Admits a role, in one group. */
  put(role: string, group: string): Promise<void>;
  /** Removes the entry of a role, if there is one. */
  remove(role: string): Promise<void>;
};

/** Opens the access entries of a cluster, by its name in EKS. */
export function eksAccessEntries(
  { cluster, region }: { readonly cluster: string; readonly region: string },
  caller: Omit<AwsCaller, 'region'>,
): EksAccessEntries {
  const entries = `/clusters/${encodeURIComponent(cluster)}/access-entries`;
  const entry = (role: string) => `${entries}/${encodeURIComponent(role)}`;
  const fail = (what: string, { status, text }: AwsResponse, action: string) => {
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

async function send(
  caller: Omit<AwsCaller, 'region'>,
  region: string,
  { body, ...request }: { readonly method: 'POST' | 'DELETE'; readonly path: string; readonly body?: object },
): Promise<AwsResponse> {
  const content = body === undefined ? undefined : { type: 'application/json', body: JSON.stringify(body) };
  const host = `eks.${region}.${partitionOf(region).dnsSuffix}`;
  return await sendSigned(caller, { ...request, host, service: 'eks', region, content });
}

function reasonOf(text: string): string {
  const reason = /"message"\s*:\s*"([^"\\]{1,300})"/i.exec(text)?.[1];
  return reason === undefined ? '' : ` (${reason})`;
}
