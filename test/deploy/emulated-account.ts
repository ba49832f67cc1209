// An empty account on an AWS emulator (moto). It stores the resources of CloudFormation and returns them through the
// services' own APIs. It silently omits unsupported types, so tests list them.
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
  /** The environment with which a program uses the emulator as AWS. */
  readonly environment: Readonly<Record<string, string>>;
  /** The options with which a client does. */
  readonly client: {
    readonly endpoint: string;
    readonly region: string;
    readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  };
  close(): Promise<void>;
};

/** Starts it on a free port and resolves when it responds. */
export async function startEmulatedAccount(region = 'eu-central-1'): Promise<EmulatedAccount> {
  const children = createChildProcesses(await mkdtemp(join(tmpdir(), 'outrigger-aws-')));
  const endpoint = await startEmulatedAws(children).catch(async (error: unknown) => {
    await children.close();
    throw error;
  });
  const credentials = { accessKeyId: 'anyone', secretAccessKey: 'nothing' };
  return {
    region,
    accountId: '123456789012',
    environment: {
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      // The milliseconds between two requests of osls for the state of a stack, otherwise 5000. The emulator's is final at once.
      SLS_AWS_MONITORING_FREQUENCY: '200',
    },
    client: { endpoint, region, credentials },
    close: () => children.close(),
  };
}
