// Only where the deduplication ids of a function come from: the deployment's secret, which may be unreadable.
import { expect, it } from 'vitest';
import { withFileSecrets } from '../../src/clusters/auth/file-secrets.ts';
import { createSecretReader } from '../../src/clusters/auth/secret-reader.ts';
import { createIdSource } from '../../src/lambda/function-ids.ts';
import { createFunctionIds } from '../../src/sqs/deduplication.ts';
import { aMessage } from '../sqs/messages.ts';
import { useFolder } from '../support/folder.ts';
import { createRecorder } from '../support/recorder.ts';

const slot = { slot: '30/7', dueAt: 210 };
const folder = useFolder();

const setUp = (getSecret: () => Promise<string>) => {
  const { log, lines } = createRecorder();
  const secrets = withFileSecrets(createSecretReader({ now: () => new Date(0), getSecret }));
  return { idsOf: (location: string | undefined) => createIdSource(location, secrets, log), lines };
};

it('two functions with the same secret make the same ids, which differ from those without a secret', async () => {
  const { idsOf } = setUp(async () => 'swordfish');
  await folder.write('secret', 'swordfish');
  const made = await Promise.all(
    [idsOf('arn:secret'), idsOf(`file:${folder.at('secret')}`), idsOf(undefined)].map(async (source) =>
      (await source()).requeue(aMessage(), slot),
    ),
  );
  expect(made[0]).toBe(made[1]);
  expect(made[0]).not.toBe(made[2]);
  expect(made[2]).toBe(createFunctionIds().requeue(aMessage(), slot));
});

// Control T71.
it('while the secret cannot be read, ids are made without it and a warning is logged; the next call reads it', async () => {
  let isAvailable = false;
  const { idsOf, lines } = setUp(async () => {
    if (!isAvailable) throw new Error('throttled');
    return 'swordfish';
  });
  const source = idsOf('arn:secret');
  expect((await source()).requeue(aMessage(), slot)).toBe(createFunctionIds().requeue(aMessage(), slot));
  expect(lines).toMatchObject([{ level: 'warn', fields: { reason: expect.stringContaining('throttled') } }]);
  isAvailable = true;
  expect((await source()).requeue(aMessage(), slot)).toBe(createFunctionIds('swordfish').requeue(aMessage(), slot));
  isAvailable = false;
  expect((await source()).requeue(aMessage(), slot)).toBe(createFunctionIds('swordfish').requeue(aMessage(), slot));
});
