// The cache of createSecretReader and its errors. Secrets Manager is a local server with the responses of AWS.
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createSecretReader } from '../../../src/clusters/auth/secret-reader.ts';
import { createGetSecret } from '../../../src/clusters/auth/secrets-manager.ts';
import { UserError } from '../../../src/core/errors.ts';
import { redact } from '../../../src/core/redact.ts';
import { failure, sendJson, startWireServer } from '../../kube/wire-server.ts';
import { movedClock } from '../../support/moved-clock.ts';

type SecretResponse = readonly [status: number, body: object];
const notFound: SecretResponse = [400, { __type: 'ResourceNotFoundException', Message: 'cannot find it' }];
const notAllowed: SecretResponse = [400, { __type: 'AccessDeniedException', Message: 'not authorized' }];
const unavailable: SecretResponse = [500, { __type: 'InternalServiceError', Message: 'later' }];
const withText = (SecretString: string): SecretResponse => [200, { Name: 'a', SecretString }];

const reference = { secret: 'outrigger/a', maxAgeSeconds: 300 };
const where = 'cluster "a": access';

async function createFixture(answer: SecretResponse) {
  const requests: string[] = [];
  const { now, later } = movedClock();
  const state = { answer, requests };
  const server = await startWireServer(({ headers, body }, response) => {
    state.requests.push(`${headers['x-amz-target']} ${JSON.stringify(body)}`);
    sendJson(response, ...state.answer, { 'content-type': 'application/x-amz-json-1.1' });
  });
  const client = new SecretsManagerClient({
    endpoint: server.url.origin,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'x', secretAccessKey: 'y' },
    maxAttempts: 1,
  });
  onTestFinished(() => client.destroy());
  const reader = createSecretReader({ now, getSecret: createGetSecret(client) });
  return { state, later, reader };
}

it('a secret reader reads a secret once for concurrent callers, and again after its maximum age', async () => {
  const { state, later, reader } = await createFixture(withText('one'));
  const both = await Promise.all([reader.read(reference, where), reader.read(reference, where)]);
  expect(both).toEqual(['one', 'one']);
  state.answer = withText('two');
  later(299);
  expect(await reader.read(reference, where)).toBe('one');
  expect(state.requests).toEqual(['secretsmanager.GetSecretValue {"SecretId":"outrigger/a"}']);
  later(1);
  expect(await reader.read(reference, where)).toBe('two');
});

it('a secret reader applies the maximum age of each reference to a shared secret', async () => {
  const { state, later, reader } = await createFixture(withText('one'));
  await reader.read(reference, where);
  state.answer = withText('two');
  later(10);
  expect(await reader.read(reference, where)).toBe('one');
  expect(await reader.read({ ...reference, maxAgeSeconds: 10 }, where)).toBe('two');
  expect(await reader.read(reference, where)).toBe('two');
});

// Control T110.
it('what a secret reader has read is cut out of every text, and not the name of the secret', async () => {
  const { reader } = await createFixture(withText('{"token":"opaque-9f86d081","user":"north-1234"}'));
  expect(await reader.read({ ...reference, key: 'token' }, where)).toBe('opaque-9f86d081');
  expect(redact('refused: opaque-9f86d081 of outrigger/a, user north-1234')).toBe(
    'refused: [redacted] of outrigger/a, user north-1234',
  );
});

it('a secret reader reads a secret again at once after forget', async () => {
  const { state, reader } = await createFixture(withText('one'));
  await reader.read(reference, where);
  state.answer = withText('two');
  reader.forget(reference);
  expect(await reader.read(reference, where)).toBe('two');
});

it('a secret reader keeps a cached secret while Secrets Manager is unavailable, and retries every 5 s', async () => {
  const { state, later, reader } = await createFixture(withText('one'));
  await reader.read(reference, where);
  state.answer = unavailable;
  later(300);
  expect(await reader.read(reference, where)).toBe('one');
  later(4);
  expect(await reader.read(reference, where)).toBe('one');
  expect(state.requests).toHaveLength(2);
  state.answer = withText('two');
  later(1);
  expect(await reader.read(reference, where)).toBe('two');
});

const refusal = (__type: string): SecretResponse => [400, { __type, Message: 'no' }];
it.each<[string, SecretResponse, string]>([
  ['was deleted', notFound, 'does not exist; create it, or correct its name'],
  ['is scheduled for deletion', refusal('InvalidRequestException'), 'is scheduled for deletion; restore it'],
  ['is no longer readable', notAllowed, 'is not readable; allow secretsmanager:GetSecretValue'],
  ['cannot be decrypted', refusal('DecryptionFailure'), 'cannot be decrypted; enable its KMS key'],
  ['has a disabled KMS key', refusal('KMSDisabledException'), 'is refused (KMSDisabledException: no)'],
  ['has a KMS key that is deleted', refusal('KMSInvalidStateException'), 'is refused (KMSInvalidStateException: no)'],
  ['has no valid name', refusal('InvalidParameterException'), 'is refused (InvalidParameterException: no)'],
  ['is binary', [200, { Name: 'a', SecretBinary: 'AA==' }], 'holds no text; store it as a string'],
  ['is blank', withText(' \n'), 'holds no text; store it as a string'],
  // Control T157.
])('B6: a cached secret that %s is not used again, with advice, also after the API server refused it', async (_, answer, advice) => {
  const { state, later, reader } = await createFixture(withText('one'));
  for (const stale of [() => later(300), () => reader.forget(reference)]) {
    state.answer = withText('one');
    expect(await reader.read(reference, where)).toBe('one');
    state.answer = answer;
    stale();
    const error = await failure(reader.read(reference, where));
    expect(error).toBeInstanceOf(UserError);
    expect(String(error)).toContain(`UserError: cluster "a": access: secret "outrigger/a" ${advice}`);
    state.answer = unavailable;
    await expect(reader.read(reference, where)).rejects.toThrow('could not be read');
  }
});

it.each([
  ['fails', unavailable],
  ['has too many calls', refusal('ThrottlingException')],
  ['does not know the credentials of the function', refusal('ExpiredTokenException')],
  ['finds the clock of the function wrong', refusal('InvalidSignatureException')],
])('B6: a cached secret stays in use while Secrets Manager %s', async (_, answer) => {
  const { state, later, reader } = await createFixture(withText('one'));
  await reader.read(reference, where);
  state.answer = answer;
  later(300);
  expect(await reader.read(reference, where)).toBe('one');
});

it('a secret reader throws a UserError while Secrets Manager is unavailable, and then retries', async () => {
  const { state, reader } = await createFixture(unavailable);
  await expect(reader.read(reference, where)).rejects.toThrow(
    /^cluster "a": access: secret "outrigger\/a" could not be read \(.+\); it is retried$/,
  );
  state.answer = withText('one');
  expect(await reader.read(reference, where)).toBe('one');
});

it.each([
  ['is not JSON', 'one'],
  ['lacks the key', '{"other":"one"}'],
  ['has no string under the key', '{"token":{"a":"one"}}'],
])('a secret reader with a key throws a UserError without the content for a secret that %s', async (_, text) => {
  const { reader } = await createFixture(withText(text));
  const error = await failure(reader.read({ ...reference, key: 'token' }, where));
  expect(String(error)).toBe(
    'UserError: cluster "a": access: secret "outrigger/a" is not a JSON object with a string "token"; fix the secret or the key',
  );
});

it('a read of a secret fails when its credential provider hangs', async () => {
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.timeout(10));
  onTestFinished(() => void vi.restoreAllMocks());
  const credentials = () => new Promise<never>(() => undefined);
  const read = createGetSecret(new SecretsManagerClient({ region: 'eu-central-1', credentials }));
  await expect(read('outrigger/a', 'cluster "a"')).rejects.toThrow('timeout');
});
