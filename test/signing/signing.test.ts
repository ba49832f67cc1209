// Only signatures and partitions: they are those of the AWS SDK. That AWS's own programs accept them is in
// test/clusters/auth and test/sqs/direct-batch.test.ts.
import { partition } from '@aws-sdk/core/client';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { partitionOf } from '../../src/signing/partition.ts';
import { presignedQuery, signedHeaders } from '../../src/signing/signature.ts';

const text = fc.string({ unit: 'binary', maxLength: 20 });
const signers = fc.record({
  credentials: fc.record(
    { accessKeyId: fc.stringMatching(/^AKIA[A-Z0-9]{4}$/), secretAccessKey: text, sessionToken: fc.base64String() },
    { requiredKeys: ['accessKeyId', 'secretAccessKey'] },
  ),
  region: fc.constantFrom('us-east-1', 'eu-central-1'),
  service: fc.constantFrom('sqs', 's3', 'sts', 'eks'),
  at: fc.date({ min: new Date(0), max: new Date('2099-01-01'), noInvalidDate: true }),
});
const paths = fc
  .array(text.filter((one) => /[^.]/.test(one)))
  .map((all) => `/${all.map(encodeURIComponent).join('/')}`);
const headers = fc
  .dictionary(fc.stringMatching(/^x-amz-[a-c](-?[a-c0-9]){0,3}$/), fc.stringMatching(/^[!-~][ -~]{0,9}[!-~]$/))
  .map((more) => ({ ...more, host: 'example.com:80' }));
const requests = fc.record({ path: paths, headers });

const sdkSigner = ({ credentials, region, service }: Parameters<typeof signedHeaders>[1]) => {
  const { sessionToken, ...keys } = credentials;
  const given = sessionToken === undefined ? keys : { ...keys, sessionToken };
  return new SignatureV4({ credentials: given, region, service, sha256: Sha256, uriEscapePath: service !== 's3' });
};
const url = { protocol: 'https:', hostname: 'example.com' };

it('the headers of a signed request are those of the AWS SDK', async () => {
  const methods = fc.constantFrom('GET', 'POST', 'PUT', 'DELETE');
  await fc.assert(
    fc.asyncProperty(requests, methods, text, signers, async (request, method, body, signer) => {
      fc.pre(!request.path.includes('//') && signer.credentials.sessionToken !== '');
      const bySdk = await sdkSigner(signer).sign({ ...url, ...request, method, body }, { signingDate: signer.at });
      expect(signedHeaders({ ...request, method, body }, signer)).toEqual(bySdk.headers);
    }),
  );
});

it('the query of a presigned request is that of the AWS SDK', async () => {
  const own = { Action: 'GetCallerIdentity', Version: '2011-06-15' };
  await fc.assert(
    fc.asyncProperty(fc.stringMatching(/^[!-~]{1,9}$/), signers, async (cluster, signer) => {
      fc.pre(signer.credentials.sessionToken !== '');
      const request = { path: '/', query: own, headers: { host: 'example.com', 'x-k8s-aws-id': cluster } };
      const { query = {} } = await sdkSigner(signer).presign(
        { ...url, ...request, method: 'GET' },
        { expiresIn: 60, signingDate: signer.at },
      );
      const parameters = new URLSearchParams(presignedQuery(request, signer, 60));
      expect(Object.fromEntries(parameters)).toEqual(query);
    }),
  );
});

it('the partition of a region is that of the AWS SDK', () => {
  const regions = ['us-east-1', 'eu-central-1', 'il-central-1', 'mx-central-1', 'cn-north-1', 'us-gov-west-1'];
  const isolated = ['us-iso-east-1', 'us-isob-east-1', 'eu-isoe-west-1', 'us-isof-south-1', 'eusc-de-east-1'];
  for (const region of [...regions, ...isolated]) {
    const { name, dnsSuffix } = partition(region);
    expect(partitionOf(region), region).toMatchObject({ name, dnsSuffix });
  }
});
