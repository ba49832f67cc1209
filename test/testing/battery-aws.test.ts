// Controllers that call AWS: the battery sees their calls, and compares them with their permissions.
import { ChangeResourceRecordSetsCommand, Route53Client } from '@aws-sdk/client-route-53';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { awsClient } from '../../src/aws.ts';
import { ConfigMap } from '../../src/kubernetes.ts';
import { defineKind, ok, type Permission, type ResultOf } from '../../src/outrigger.ts';
import { battery, type OutsideWorld, startSystem } from '../../src/testing.ts';
import { startHttpServer } from '../support/listen.ts';

const Name = defineKind({
  group: 'dns.example.com',
  version: 'v1',
  kind: 'Name',
  spec: z.object({ address: z.string() }),
  status: z.object({ address: z.string() }),
  conditions: ['Published'],
});
const sample = {
  apiVersion: Name.apiVersion,
  kind: 'Name',
  metadata: { name: 'north' },
  spec: { address: '192.0.2.1' },
};

const publisher = (permissions: readonly Permission[] | undefined) => {
  const settings = z.object({ ZONE_ID: z.string(), ROUTE53_ENDPOINT: z.string().default('') });
  return Name.controller('name', {
    settings,
    clients: ({ ZONE_ID, ROUTE53_ENDPOINT }) => {
      const dns = awsClient(Route53Client, { endpoint: ROUTE53_ENDPOINT });
      return {
        change: async (Action: 'UPSERT' | 'DELETE', Name: string, Value: string) => {
          const ResourceRecordSet = { Name, Type: 'A' as const, TTL: 60, ResourceRecords: [{ Value }] };
          const ChangeBatch = { Changes: [{ Action, ResourceRecordSet }] };
          await dns.send(new ChangeResourceRecordSetsCommand({ HostedZoneId: ZONE_ID, ChangeBatch }));
        },
      };
    },
    ...(permissions === undefined ? {} : { permissions }),
    async reconcile({ metadata: { name }, spec: { address }, status }, { clients }): Promise<ResultOf<typeof Name>> {
      if (status?.address !== address) await clients.change('UPSERT', `${name}.example.com`, address);
      return { status: { address }, conditions: { Published: ok('Published') } };
    },
    async finalize({ metadata: { name }, status }, { clients }) {
      if (status !== undefined) await clients.change('DELETE', `${name}.example.com`, status.address ?? '');
      return 'done';
    },
  });
};
/** What the guide shows. */
const declared = {
  permissions: [
    {
      actions: ['route53:ChangeResourceRecordSets'],
      resources: ['arn:${AWS::Partition}:route53:::hostedzone/${ZONE_ID}'],
    },
  ],
};

/** Route 53 as far as the controller calls it. */
async function emulatedDns(): Promise<OutsideWorld> {
  const records = new Map<string, string>();
  const { url, close } = await startHttpServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const [, action = ''] = /<Action>(.*?)<\/Action>/.exec(body) ?? [];
    const [, name = ''] = /<Name>(.*?)<\/Name>/.exec(body) ?? [];
    const [, value = ''] = /<Value>(.*?)<\/Value>/.exec(body) ?? [];
    if (action === 'DELETE') records.delete(name);
    else records.set(name, value);
    const info = '<ChangeInfo><Id>/change/C1</Id><Status>INSYNC</Status></ChangeInfo>';
    response.end(`<ChangeResourceRecordSetsResponse>${info}</ChangeResourceRecordSetsResponse>`);
  });
  return {
    environment: { ZONE_ID: 'Z1', ROUTE53_ENDPOINT: url },
    state: () => Object.fromEntries(records),
    close,
  };
}

const options = { samples: [sample], outside: emulatedDns };
const named = 'every call to AWS is permitted, and every permission is used';
const run = async (permissions: readonly Permission[] | undefined) => {
  const check = battery(publisher(permissions), options).find(({ name }) => name === named);
  const skip = vi.fn();
  const failed = await check?.run({ skip }).then(
    () => undefined,
    ({ message }: Error) => message,
  );
  return { failed, notes: skip.mock.calls.flat() };
};

describe('a controller of Route 53 passes every check', () => {
  const skipped: string[] = [];
  for (const { name, run } of battery(publisher(declared.permissions), options)) {
    it(name, async () => {
      await run({ skip: (note) => void skipped.push(note) });
    });
  }
  // A crash and an outage at each call are tried, which needs calls that the battery sees.
  it('no check of the outside system is skipped', () => {
    expect(skipped.filter((note) => /fetch|awsClient/.test(note))).toEqual([]);
  });
});

it('U1: a call that is not permitted fails with its action and what to write', async () => {
  const { failed } = await run(undefined);
  expect(failed).toBe(
    'calls to AWS are not permitted: route53:ChangeResourceRecordSets. What to change: give the controller ' +
      "permissions: [{ actions: ['route53:ChangeResourceRecordSets'], resources: [the ARNs] }].",
  );
});

it('U1: a permission that no call needs is named, and the other is not', async () => {
  const { failed, notes } = await run([{ actions: ['route53:Change*', 'route53:GetChange'], resources: ['*'] }]);
  expect(failed).toBeUndefined();
  expect(notes).toEqual(['not checked: no sample needs route53:GetChange; remove them, or give a sample that does']);
});

it('U1: a call in a whole system that is not permitted is refused as AWS would refuse it', async () => {
  const dns = await emulatedDns();
  await using system = await startSystem({
    controllers: [publisher([{ actions: ['route53:GetChange'], resources: ['*'] }])],
    environment: dns.environment ?? {},
  });
  await system.cluster.apply(sample);
  await system.settled();
  const [condition] = (await system.cluster.get(Name, { namespace: 'default', name: 'north' }))?.conditions ?? [];
  expect(condition?.message).toContain(
    'AWS would refuse ChangeResourceRecordSets of name: give the controller permissions: ' +
      "[{ actions: ['route53:ChangeResourceRecordSets'], resources: [the ARNs] }]",
  );
  expect(dns.state?.()).toEqual({});
  await dns.close?.();
});

it('U1: a call of a mapping function that is not permitted is refused, too', async () => {
  const dns = await emulatedDns();
  const mapper = Name.controller('name', {
    ...publisher([]),
    watches: [
      {
        kind: ConfigMap,
        mapToKeys: async ({ name }, { clients }) => {
          await clients.change('UPSERT', name, '192.0.2.1');
          return [];
        },
      },
    ],
  });
  await using system = await startSystem({ controllers: [mapper], environment: dns.environment ?? {} });
  await system.cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'a' } });
  await system.settled();
  expect(system.mappings[0]?.error).toContain('AWS would refuse ChangeResourceRecordSets of name');
  expect(dns.state?.()).toEqual({});
  await dns.close?.();
});

it('U1: a call that AWS throttles costs no attempt', async () => {
  const error = '<ErrorResponse><Error><Code>Throttling</Code><Message>Rate exceeded</Message></Error></ErrorResponse>';
  const { url, close } = await startHttpServer((_, response) => void response.writeHead(400).end(error));
  const environment = { ZONE_ID: 'Z1', ROUTE53_ENDPOINT: url };
  await using system = await startSystem({ controllers: [publisher(declared.permissions)], environment });
  await system.cluster.apply(sample);
  await system.settled();
  const { conditions } = (await system.cluster.get(Name, { namespace: 'default', name: 'north' })) ?? {};
  const ready = conditions?.find(({ type }) => type === 'Ready');
  expect(ready).toMatchObject({ reason: 'RetryLater', message: expect.stringContaining('Rate exceeded') });
  await close();
});
