// A key as an operator writes it: copied from a log or a list, or typed.
import type { Registered } from '../core/controller.ts';
import { isPathSegment, type TargetKey } from '../core/key.ts';
import { OperatorProblem } from './operate.ts';

/** What was asked for. What is undefined was left open. */
export type AskedKey = Pick<TargetKey, 'controller' | 'name'> &
  Partial<Pick<TargetKey, 'cluster' | 'group' | 'resource'>> & { readonly namespace: string | undefined };

const forms = 'CONTROLLER:NAMESPACE/NAME, CONTROLLER:NAME, or a whole key as logs and dlq list print it';

/**
 * Reads `water-tank:default/north`, `water-tank:north` (a kind without namespaces), or a whole key,
 * `water-tank:local:watertanks.plant.example.com/default/north`. Throws OperatorProblem.
 * @param given the controller, where another option has named it already
 */
export function parseAskedKey(text: string, controllers: readonly Registered[], given?: string): AskedKey {
  const whole = given === undefined || text.startsWith(`${given}:`) ? text : `${given}:${text}`;
  const colon = whole.indexOf(':');
  const problem = () => new OperatorProblem(`${JSON.stringify(text)} is no key; write ${forms}`);
  if (colon < 1) throw problem();
  const { name: controller } = controllerNamed(whole.slice(0, colon), controllers);
  const rest = whole.slice(colon + 1);
  const parts = rest.split('/');
  const [place = '', namespace, name] = parts.length === 3 ? parts : [undefined, ...lastTwo(parts)];
  const named = { controller, namespace: namespace === '' ? undefined : namespace, name: name ?? '' };
  if (parts.length > 3 || ![named.name, named.namespace ?? 'none'].every(isPathSegment)) throw problem();
  if (parts.length < 3) return named;
  const [, cluster, resource, group = ''] = /^([^:]+):([^.:]+)(?:\.([^:]+))?$/.exec(place) ?? [];
  if (cluster === undefined || resource === undefined) throw problem();
  return { ...named, cluster, resource, group };
}

/** Finds a controller by its name. Throws OperatorProblem, which names those that there are. */
export function controllerNamed(name: string, controllers: readonly Registered[]): Registered {
  const found = controllers.find((one) => one.name === name);
  if (found !== undefined) return found;
  const names = controllers.map((one) => one.name).join(', ');
  throw new OperatorProblem(`there is no controller ${JSON.stringify(name)}; there are ${names}`);
}

/** Tells whether a key is the one that was asked for, as far as it was. */
export function isAsked({ controller, cluster, group, resource, namespace, name }: AskedKey, key: TargetKey): boolean {
  return (
    key.controller === controller &&
    key.namespace === namespace &&
    key.name === name &&
    (cluster === undefined || key.cluster === cluster) &&
    (group === undefined || key.group === group) &&
    (resource === undefined || key.resource === resource)
  );
}

function lastTwo(parts: readonly string[]): readonly (string | undefined)[] {
  return parts.length === 2 ? parts : [undefined, parts[0]];
}
