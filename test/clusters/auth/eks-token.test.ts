// A token as EKS' authenticator reads it, and when it is made anew. Excluded: the whole way through an API server
// (test/cluster/eks-access.test.ts).
import { describe, expect, it } from 'vitest';
import { ConnectionProblem } from '../../../src/clusters/connection-problem.ts';
import { type AwsCredentials, createEksToken } from '../../../src/clusters/auth/eks-token.ts';
import { createEksAuthenticator, signedAt } from './eks-authenticator.ts';

const role = {
  accessKeyId: 'ASIAEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: 'FwoGZXIvYXdzE/+Eo=='.repeat(40),
};
const arn = 'arn:aws:iam::000000000000:role/water-tank';
const minute = 60_000;

function createWorld({
  region = 'eu-central-1',
  credentials = async () => role,
  credentialsSeconds = 5,
}: {
  readonly region?: string;
  readonly credentials?: () => Promise<AwsCredentials>;
  readonly credentialsSeconds?: number;
} = {}) {
  const world = { now: new Date('2026-11-21T20:00:00Z'), asked: 0 };
  const now = () => world.now;
  const parts = {
    now,
    credentials: async () => {
      world.asked += 1;
      return await credentials();
    },
  };
  const target = { cluster: 'prod-1', region, where: 'cluster "prod": access' };
  const eks = createEksToken(parts, target, { credentialsSeconds });
  const later = (milliseconds: number) => {
    world.now = new Date(world.now.getTime() + milliseconds);
  };
  return { world, eks, later, now };
}

describe('a token', () => {
  it.each([
    ['eu-central-1', 'sts.eu-central-1.amazonaws.com'],
    ['us-gov-west-1', 'sts.us-gov-west-1.amazonaws.com'],
    ['cn-north-1', 'sts.cn-north-1.amazonaws.com.cn'],
    ['eusc-de-east-1', 'sts.eusc-de-east-1.amazonaws.eu'],
  ])('of %s is a question to %s that the cluster’s authenticator accepts', async (region, host) => {
    const { eks, now } = createWorld({ region });
    const check = createEksAuthenticator({
      cluster: 'prod-1',
      hosts: [host],
      identities: [{ ...role, arn }],
      now,
    });
    expect(check(await eks.token()).arn).toBe(arn);
  });

  it('of credentials without a session is accepted too', async () => {
    const { accessKeyId, secretAccessKey } = role;
    const user = { accessKeyId, secretAccessKey };
    const { eks, now } = createWorld({ credentials: async () => user });
    const hosts = ['sts.eu-central-1.amazonaws.com'];
    const check = createEksAuthenticator({ cluster: 'prod-1', hosts, identities: [{ ...user, arn }], now });
    expect(check(await eks.token()).arn).toBe(arn);
  });

  it('is of no use to another cluster', async () => {
    const { eks, now } = createWorld();
    const hosts = ['sts.eu-central-1.amazonaws.com'];
    const other = createEksAuthenticator({ cluster: 'prod-2', hosts, identities: [{ ...role, arn }], now });
    const token = await eks.token();
    expect(() => other(token)).toThrow('the signature does not match');
  });

  it('serves every request of 13 minutes, and is renewed before the 14th is over', async () => {
    const { world, eks, later, now } = createWorld();
    const first = await eks.token();
    later(13 * minute - 1);
    expect(await eks.token()).toBe(first);
    later(1);
    const second = await eks.token();
    expect(signedAt(second)).toEqual(now());
    expect(world.asked).toBe(2);
  });

  it('is signed once for all who ask at once', async () => {
    const { world, eks } = createWorld();
    const tokens = await Promise.all([eks.token(), eks.token(), eks.token()]);
    expect(new Set(tokens).size).toBe(1);
    expect(world.asked).toBe(1);
  });

  it('is signed afresh once it was refused', async () => {
    const { eks, later, now } = createWorld();
    await eks.token();
    later(minute);
    eks.refresh();
    expect(signedAt(await eks.token())).toEqual(now());
  });

  it('does not outlive the credentials that it was signed with', async () => {
    const start = new Date('2026-11-21T20:00:00Z').getTime();
    const { eks, later, now } = createWorld({
      credentials: async () => ({ ...role, expiration: new Date(start + 6 * minute) }),
    });
    const first = await eks.token();
    later(5 * minute - 1);
    expect(await eks.token()).toBe(first);
    later(1);
    expect(signedAt(await eks.token())).toEqual(now());
  });
});

describe('without credentials', () => {
  it('a problem names the entry and what to do, and the next request tries again', async () => {
    let there = false;
    const { eks } = createWorld({
      credentials: async () => {
        if (!there) throw new Error('Could not load credentials from any providers');
        return role;
      },
    });
    const failed = await eks.token().catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ConnectionProblem);
    expect(String(failed)).toBe(
      'ConnectionProblem: cluster "prod": access: no AWS credentials (Could not load credentials from any providers); give this process a role or a profile',
    );
    there = true;
    expect(await eks.token()).toMatch(/^k8s-aws-v1\./);
  });

  it('a provider that hangs is given up, and asked again by the next request', async () => {
    let hangs = true;
    const { eks } = createWorld({
      credentialsSeconds: 0.01,
      credentials: () => (hangs ? new Promise<AwsCredentials>(() => {}) : Promise.resolve(role)),
    });
    await expect(eks.token()).rejects.toThrow('no AWS credentials (none within 0.01 s)');
    hangs = false;
    expect(await eks.token()).toMatch(/^k8s-aws-v1\./);
  });
});
