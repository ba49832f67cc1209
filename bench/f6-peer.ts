// The peer of f6: built from the Go module in peers/go, and started once on a cluster where every object has converged.
// Every start of a controller with an informer is the same, so one is measured.
import { spawn } from 'node:child_process';
import path from 'node:path';
import * as z from 'zod';
import { goPrograms } from './peers/go-programs.ts';

const cost = z.object({
  reconciles: z.number(),
  requests: z.number(),
  writes: z.number(),
  seconds: z.number(),
  version: z.string(),
});

/** The cost of a start. */
export type PeerCost = z.infer<typeof cost>;

const deadlineSeconds = 900;

/** Builds the peer, starts it and waits until it is idle. Rejects with the end of its error output. */
export async function restartPeer(kubeconfig: string): Promise<PeerCost> {
  const { restart } = await goPrograms();
  return cost.parse(JSON.parse(await run(restart, kubeconfig)));
}

async function run(program: string, kubeconfig: string): Promise<string> {
  const child = spawn(program, [], {
    env: { KUBECONFIG: kubeconfig },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: deadlineSeconds * 1000,
  });
  let [text, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    text += String(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors = `${errors}${chunk}`.slice(-2000);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`f6: ${path.basename(program)} ended with ${code}: ${errors}`);
  return text;
}
