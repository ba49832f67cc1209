// Records in a zone of Route 53. As in external-dns, a TXT record next to each has its owner.

import { isIP } from 'node:net';
import {
  type Change,
  ChangeResourceRecordSetsCommand,
  ListResourceRecordSetsCommand,
  type ResourceRecordSet,
  Route53Client,
} from '@aws-sdk/client-route-53';
import type { Permission } from 'outrigger';
import { awsClient } from 'outrigger/aws';
import { hostTaken, type Records } from './records.ts';

export const route53Permissions: readonly Permission[] = [
  {
    actions: ['route53:ListResourceRecordSets', 'route53:ChangeResourceRecordSets'],
    resources: ['arn:${AWS::Partition}:route53:::hostedzone/${ZONE_ID}'],
  },
];

const ttl = { TTL: 60 };
const ownerName = (host: string) => `_owner.${host}`;
const ownerRecord = (host: string, owner: string): ResourceRecordSet => ({
  Name: ownerName(host),
  Type: 'TXT',
  ...ttl,
  ResourceRecords: [{ Value: `"heritage=outrigger,owner=${owner}"` }],
});

/** @param endpoint of an emulator; empty for AWS */
export function route53Records(HostedZoneId: string, endpoint: string): Records {
  const client = awsClient(Route53Client, { endpoint });

  /** The record sets of a name. They are listed in the order of names, from this one on, with `*` as its octal code. */
  async function setsOf(name: string): Promise<readonly ResourceRecordSet[]> {
    const found = await client.send(
      new ListResourceRecordSetsCommand({ HostedZoneId, StartRecordName: name, MaxItems: 10 }),
    );
    return (found.ResourceRecordSets ?? []).filter((one) => one.Name?.replace('\\052', '*') === `${name}.`);
  }
  async function change(...Changes: readonly Change[]): Promise<void> {
    await client.send(new ChangeResourceRecordSetsCommand({ HostedZoneId, ChangeBatch: { Changes: [...Changes] } }));
  }

  return {
    async publish(host, owner, targets) {
      const [owners, before] = [await setsOf(ownerName(host)), await setsOf(host)];
      const isOurs = owners.some((one) => isEqual(one, ownerRecord(host, owner)));
      if (!isOurs && owners.length + before.length > 0) throw hostTaken(host);
      const wanted: ResourceRecordSet = {
        Name: host,
        Type: targets.every((one) => isIP(one) === 4)
          ? 'A'
          : targets.every((one) => isIP(one) === 6)
            ? 'AAAA'
            : 'CNAME',
        ...ttl,
        ResourceRecords: targets.map((Value) => ({ Value })),
      };
      const stale = before.filter((one) => one.Type !== wanted.Type);
      if (isOurs && stale.length === 0 && before.some((one) => isEqual(one, wanted))) return;
      // A batch is done or refused as a whole. CREATE is refused if somebody else was faster.
      const deletions = stale.map((one): Change => ({ Action: 'DELETE', ResourceRecordSet: one }));
      if (isOurs) await change(...deletions, { Action: 'UPSERT', ResourceRecordSet: wanted });
      else
        await change(
          { Action: 'CREATE', ResourceRecordSet: ownerRecord(host, owner) },
          { Action: 'CREATE', ResourceRecordSet: wanted },
        );
    },

    async remove(host, owner) {
      const owners = await setsOf(ownerName(host));
      if (!owners.some((one) => isEqual(one, ownerRecord(host, owner)))) return;
      const sets = [...owners, ...(await setsOf(host))];
      await change(...sets.map((one): Change => ({ Action: 'DELETE', ResourceRecordSet: one })));
    },
  };
}

function isEqual(one: ResourceRecordSet, other: ResourceRecordSet): boolean {
  const values = ({ ResourceRecords = [] }: ResourceRecordSet) => ResourceRecords.map(({ Value }) => Value).sort();
  return one.Type === other.Type && values(one).join() === values(other).join();
}
