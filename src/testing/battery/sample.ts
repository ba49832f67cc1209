// Rejects a sample that the controller never reconciles: with it every check would pass.
import type { ControllerDefinition } from '../../api/definition.ts';
import { isRecord } from '../../core/json.ts';
import { isSelected } from '../../core/selector.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { getObject } from '../../kube/client/read.ts';
import { BatteryError } from './contract.ts';

/** Throws TypeError, with the position of the sample, unless it is a named object of the controller's kind. */
export function checkSampleKind({ name, declaration }: ControllerDefinition, sample: object, position: number): void {
  const { group, kind, apiVersion } = declaration.resource;
  const given: Readonly<Record<string, unknown>> = { ...sample };
  const [first = '', second] = String(given.apiVersion).split('/');
  if (given.kind !== kind || (second === undefined ? '' : first) !== group) {
    const is = `${String(given.apiVersion)} ${String(given.kind)}`;
    throw new TypeError(`samples[${position}] is ${is}; ${name} reconciles ${apiVersion} ${kind}`);
  }
  const { metadata } = given;
  if (!isRecord(metadata) || typeof metadata.name !== 'string')
    throw new TypeError(`samples[${position}]: metadata.name is needed`);
}

/** Throws BatteryError if the controller does not select the stored sample. The API server has set its defaults. */
export async function checkSampleSelected(
  { name, declaration: { resource, selector } }: ControllerDefinition,
  client: KubeClient,
  key: { readonly name: string; readonly namespace?: string },
): Promise<void> {
  const stored = await getObject(client, resource, key);
  if (stored === undefined || isSelected(selector, { ...stored, kind: resource.kind })) return;
  throw new BatteryError(
    `the selector of ${name} does not select the sample ${key.name}, so it is never reconciled. ` +
      'What to change: give a sample that has its labels, namespace and fields.',
  );
}
