// The peers written with controller-runtime: the Go module beside this, built once per machine.
import path from 'node:path';
import { goTools } from '../../support/go-tools.ts';

/** The programs' files. */
export type ControllerRuntimePeers = {
  /** A controller for Foos and their Deployments, which counts what a start costs. */
  readonly restart: string;
  /** An informer of Foos' metadata, which counts what it is told. */
  readonly metadataInformer: string;
};

/** Builds them where this machine has not. */
export async function controllerRuntimePeers(): Promise<ControllerRuntimePeers> {
  const folder = await goTools({
    module: path.join(import.meta.dirname, 'controller-runtime'),
    name: 'peer-controller-runtime',
    programs: ['controller-runtime', 'metadata-informer'],
    sources: ['main.go', 'foo.go', 'metadata-informer/main.go'],
    announcement: 'the peers written with controller-runtime (once; a minute when cold)',
    flags: ['-buildvcs=false', '-ldflags', '-s -w'],
  });
  return { restart: path.join(folder, 'controller-runtime'), metadataInformer: path.join(folder, 'metadata-informer') };
}
