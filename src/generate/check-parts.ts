// Several controllers of one kind: one is the first, each other one has its part, and nothing of the status has two writers. With
// two, each would take the field from the other for ever.
import { runtimeConditions } from '../core/conditions.ts';
import type { Registered } from '../core/controller.ts';
import { SchemaError } from './schema-error.ts';

/** Refuses a registry in which something of a status would have two writers, or a kind no first controller. Throws SchemaError. */
export function checkParts(registry: readonly Registered[]): void {
  for (const [index, controller] of registry.entries()) {
    const { name, declares } = controller;
    const refuse = (problem: string) => new SchemaError(`controller ${name}`, problem);
    const others = registry.filter((other) => other !== controller && isOfKind(controller, other));
    if (others.some((other) => other.declares.resource !== declares.resource))
      throw refuse(`there are two definitions of its kind, ${declares.resource.kind}`);
    const before = registry.slice(0, index).filter((other) => isOfKind(controller, other));
    const first = before.find((other) => other.declares.part === undefined);
    if (declares.part !== undefined) checkPart(controller, others);
    else if (first !== undefined)
      throw refuse(`${declares.resource.kind} has a first controller, ${first.name}; a second one declares its part`);
  }
}

function checkPart({ name, declares: { resource, part } }: Registered, others: readonly Registered[]): void {
  const refuse = (problem: string) => new SchemaError(`controller ${name}`, problem);
  if (part === undefined) return;
  if (!others.some((other) => other.declares.part === undefined))
    throw refuse(`${resource.kind} has no first controller, and nobody else makes it Ready`);
  if (part.conditions.length === 0) throw refuse('a part needs a condition, to say in what goes wrong');
  const { shape } = resource.definition.status;
  for (const field of part.status) {
    if (shape[field]?._zod.optout !== 'optional')
      throw refuse(`status.${field} is no optional field of ${resource.kind}'s status`);
    const other = others.find((one) => one.declares.part?.status.includes(field));
    if (other !== undefined) throw refuse(`status.${field} is ${other.name}'s already`);
  }
  for (const condition of part.conditions) {
    if (runtimeConditions.some((one) => one === condition)) throw refuse(`condition ${condition} is the runtime's`);
    if (resource.definition.conditions.includes(condition))
      throw refuse(`condition ${condition} is the first controller's`);
    const other = others.find((one) => one.declares.part?.conditions.includes(condition));
    if (other !== undefined) throw refuse(`condition ${condition} is ${other.name}'s already`);
  }
}

function isOfKind({ declares }: Registered, other: Registered): boolean {
  const [a, b] = [declares.resource, other.declares.resource];
  return a.group === b.group && a.plural === b.plural;
}
