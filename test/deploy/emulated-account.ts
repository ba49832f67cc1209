// An account without anything in it, on an AWS of somebody else's making. It holds what CloudFormation is told, and gives it back
// through the services' own APIs; what it does not know it leaves out in silence, so a test says what that is.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createChildProcesses } from '../../tools/control-plane/child-processes.ts';
import { startEmulatedAws } from './emulated-aws.ts';

/** The account. */
export type EmulatedAccount = {
  readonly region: string;
  /** moto's only account. */
  readonly accountId: string;
  /** What a program needs to take it for AWS. */
  readonly environment: Readonly<Record<string, string>>;
  /** What a client needs to. */
  readonly client: {
    readonly endpoint: string;
    readonly region: string;
    readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  };
  close(): Promise<void>;
};

/** Starts it at a free port and resolves when it answers. */
export async function startEmulatedAccount(region = 'eu-central-1'): Promise<EmulatedAccount> {
  const children = createChildProcesses(await mkdtemp(join(tmpdir(), 'outrigger-aws-')));
  const endpoint = await startEmulatedAws(children).catch(async (error: unknown) => {
    await children.close();
    throw error;
  });
  const credentials = { accessKeyId: 'nobody', secretAccessKey: 'nothing' };
  return {
    region,
    accountId: '123456789012',
    environment: {
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
    client: { endpoint, region, credentials },
    close: () => children.close(),
  };
}
