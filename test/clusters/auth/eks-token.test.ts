// The tokens of createEksToken, verified by a fake of EKS' authenticator, and their renewal. Excluded: access through
// an API server (test/cluster/eks-access.test.ts).

import { expect, it } from 'vitest';
import type { AwsCredentials } from '../../../src/clusters/auth/aws-credentials.ts';
import { createEksToken } from '../../../src/clusters/auth/eks-token.ts';
import { UserError } from '../../../src/core/errors.ts';
import { movedClock } from '../../support/moved-clock.ts';
import { createEksAuthenticator, type KnownIdentity, signedAt } from './eks-authenticator.ts';

const role = {
  accessKeyId: 'ASIAEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: 'FwoGZXIvYXdzE/+Eo=='.repeat(40),
};
const arn = 'arn:aws:iam::000000000000:role/water-tank';
const minute = 60;
const start = '2026-11-21T20:00:00Z';

function createFixture({
  region = 'eu-central-1',
  credentials = async () => role,
  credentialsSeconds = 5,
  accepting = 'prod-1',
  host = 'sts.eu-central-1.amazonaws.com',
  identity = role,
}: {
  readonly region?: string;
  /** The authenticator's cluster, its host of STS, and the identity that it knows. */
  readonly accepting?: string;
  readonly host?: string;
  readonly identity?: Omit<KnownIdentity, 'arn'>;
  readonly credentials?: () => Promise<AwsCredentials>;
  readonly credentialsSeconds?: number;
} = {}) {
  const { now, later } = movedClock(start);
  const state = { credentialCalls: 0 };
  const deps = {
    now,
    credentials: async () => {
      state.credentialCalls += 1;
      return await credentials();
    },
  };
  const target = { cluster: 'prod-1', region, where: 'cluster "prod": access' };
  const eks = createEksToken(deps, target, { credentialsSeconds });
  const identities = [{ ...identity, arn }];
  const check = createEksAuthenticator({ cluster: accepting, hosts: [host], identities, now });
  return { state, eks, check, later, now };
}

it.each([
  ['eu-central-1', 'sts.eu-central-1.amazonaws.com'],
  ['us-gov-west-1', 'sts.us-gov-west-1.amazonaws.com'],
  ['cn-north-1', 'sts.cn-north-1.amazonaws.com.cn'],
  ['eusc-de-east-1', 'sts.eusc-de-east-1.amazonaws.eu'],
])('an EKS token of %s is a request to %s that the authenticator accepts', async (region, host) => {
  const { eks, check } = createFixture({ region, host });
  expect(check(await eks.token()).arn).toBe(arn);
});

it('an EKS token of credentials without a session token is accepted', async () => {
  const { accessKeyId, secretAccessKey } = role;
  const user = { accessKeyId, secretAccessKey };
  const { eks, check } = createFixture({ credentials: async () => user, identity: user });
  expect(check(await eks.token()).arn).toBe(arn);
});

it('an EKS token is rejected by another cluster', async () => {
  const { eks, check } = createFixture({ accepting: 'prod-2' });
  const token = await eks.token();
  expect(() => check(token)).toThrow('the signature does not match');
});

it('an EKS token is reused for 13 minutes, and renewed before 14 minutes have passed', async () => {
  const { state, eks, later, now } = createFixture();
  const first = await eks.token();
  later(13 * minute - 0.001);
  expect(await eks.token()).toBe(first);
  later(0.001);
  const second = await eks.token();
  expect(signedAt(second)).toEqual(now());
  expect(state.credentialCalls).toBe(2);
});

it('an EKS token is signed once for concurrent callers', async () => {
  const { state, eks } = createFixture();
  const tokens = await Promise.all([eks.token(), eks.token(), eks.token()]);
  expect(new Set(tokens).size).toBe(1);
  expect(state.credentialCalls).toBe(1);
});

it('an EKS token is signed again after refresh', async () => {
  const { eks, later, now } = createFixture();
  await eks.token();
  later(minute);
  eks.refresh();
  expect(signedAt(await eks.token())).toEqual(now());
});

it('an EKS token does not outlive the credentials that signed it', async () => {
  const { eks, later, now } = createFixture({
    credentials: async () => ({ ...role, expiration: new Date('2026-11-21T20:06:00Z') }),
  });
  const first = await eks.token();
  later(5 * minute - 0.001);
  expect(await eks.token()).toBe(first);
  later(0.001);
  expect(signedAt(await eks.token())).toEqual(now());
});

it('an EKS token without credentials is a UserError with the entry and advice, and is retried', async () => {
  let there = false;
  const { eks } = createFixture({
    credentials: async () => {
      if (!there) throw new Error('Could not load credentials from any providers');
      return role;
    },
  });
  const failed = await eks.token().catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(UserError);
  expect(String(failed)).toBe(
    'UserError: cluster "prod": access: no AWS credentials (Could not load credentials from any providers); give this process a role or a profile',
  );
  there = true;
  expect(await eks.token()).toMatch(/^k8s-aws-v1\./);
});

it('an EKS token fails when the credential provider hangs, and the next request retries', async () => {
  let hangs = true;
  const { eks } = createFixture({
    credentialsSeconds: 0.01,
    credentials: () => (hangs ? new Promise<AwsCredentials>(() => {}) : Promise.resolve(role)),
  });
  await expect(eks.token()).rejects.toThrow('no AWS credentials (none within 0.01 s)');
  hangs = false;
  expect(await eks.token()).toMatch(/^k8s-aws-v1\./);
});
