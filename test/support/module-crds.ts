// The CustomResourceDefinitions of other projects, as their Go modules have them. A module is downloaded outside of the
// repository, whose modules are others.
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import * as z from 'zod';
import { type KubeObject, parseObject } from '../../src/kube/client/object.ts';

/** A module with its version, and the files of its CRDs. */
export type CrdModule = { readonly module: string; readonly files: string };

export const certManager = { module: 'github.com/cert-manager/cert-manager@v1.18.2', files: 'deploy/crds/crd-*.yaml' };
export const gatewayApi = { module: 'sigs.k8s.io/gateway-api@v1.3.0', files: 'config/crd/standard/*_*.yaml' };

/** Returns the paths of the CRDs of a module. */
export async function crdFilesOf({ module, files }: CrdModule): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', module], { cwd: tmpdir() });
  const { Dir } = z.object({ Dir: z.string() }).parse(JSON.parse(stdout));
  return globSync(files, { cwd: Dir }).map((file) => path.join(Dir, file));
}

/** Reads the CRD of a module from the file of this name. One of a Helm chart has labels without values: none is kept. */
export async function crdOfModule(module: CrdModule, name: string): Promise<KubeObject> {
  const file = (await crdFilesOf(module)).find((one) => path.basename(one) === name) ?? '';
  const { metadata, status: _, ...definition } = parseObject(parse(await readFile(file, 'utf8')));
  const { annotations = {} } = metadata;
  return { ...definition, metadata: { name: metadata.name, annotations } };
}
