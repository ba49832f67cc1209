// Rejects permissions of a controller that IAM would refuse, that name nothing of the stack, or that limit nothing.
import type { ControllerDeclaration, ControllerDefinition } from 'outrigger/internal/api/definition';
import { isParameter, type Permission, placeholdersOf } from 'outrigger/internal/api/permissions';
import { isSecret } from 'outrigger/internal/api/secret';
import { SchemaError } from 'outrigger/internal/core/errors';
import * as z from 'zod';

const actionForm = /^[a-z0-9-]+:[A-Za-z0-9*?]+$/;
const operatorForm = /^(?:For(?:Any|All)Values:)?[A-Z][A-Za-z]+$/;
/** ARNs begin with `arn:`, partition, service, region and account, which may be empty, `*` or a placeholder. */
const arnForm =
  /^arn:(?:[a-z-]+|\$\{AWS::Partition\}):[a-z0-9-]+:(?:[a-z0-9-]*|\*|\$\{[^}]+\}):(?:\d*|\*|\$\{[^}]+\}|aws):.+$/;
const pseudoParameters = ['AWS::Partition', 'AWS::Region', 'AWS::AccountId', 'AWS::URLSuffix'];
const accept = 'say `wildcard: true` if that is meant';

/** Throws SchemaError with the path of the first part of a controller's permissions that is wrong. */
export function checkPermissions({ name, declaration }: Pick<ControllerDefinition, 'name' | 'declaration'>): void {
  const known = new Set([...pseudoParameters, ...plainSettings(declaration)]);
  for (const [index, permission] of (declaration.permissions ?? []).entries())
    for (const [path, problem] of problemsOf(permission, known))
      throw new SchemaError(`controller ${name}.permissions.${index}.${path}`, problem);
}

function* problemsOf(
  { actions, resources, conditions = {}, wildcard }: Permission,
  known: ReadonlySet<string>,
): Generator<readonly [path: string, problem: string]> {
  if (actions.length === 0) yield ['actions', 'name at least one action'];
  if (resources.length === 0) yield ['resources', 'name at least one ARN'];
  for (const [index, action] of actions.entries()) {
    const path = `actions.${index}`;
    if (action !== '*' && !actionForm.test(action))
      yield [path, `${action} is not an action of IAM, which is like route53:ChangeResourceRecordSets`];
    if (wildcard !== true && /[*?]/.test(action)) yield [path, `${action} permits every action it matches; ${accept}`];
  }
  for (const [index, resource] of resources.entries()) {
    const path = `resources.${index}`;
    const unknown = placeholdersOf(resource).find((name) => !known.has(name));
    if (unknown !== undefined) yield [path, notKnown(unknown)];
    if (resource !== '*' && !arnForm.test(resource)) yield [path, `${resource} is not an ARN`];
    if (wildcard !== true && isEverything(resource))
      yield [path, `${resource} is every resource, or of every account; ${accept}`];
  }
  for (const [operator, keys] of Object.entries(conditions)) {
    const path = `conditions.${operator}`;
    if (!operatorForm.test(operator)) yield [path, 'is not an operator of IAM, which is like StringEquals'];
    const names = placeholdersOf(Object.values(keys).flat().join());
    const unknown = names.find((name) => isParameter(name) && !known.has(name));
    if (unknown !== undefined) yield [path, notKnown(unknown)];
  }
}

/** The settings whose values a template has: it has no defaults. */
function plainSettings({ settings }: ControllerDeclaration): readonly string[] {
  const hasDefault = (schema: z.core.$ZodType) => (z.core.safeParse(schema, undefined).data ?? '') !== '';
  const all = Object.entries(settings?.shape ?? {});
  return all.flatMap(([name, schema]) => (isSecret(schema) || hasDefault(schema) ? [] : [name]));
}

function notKnown(name: string): string {
  return `\${${name}} is not a setting of the controller, is a secret, or has a default; name a required setting`;
}

/** Returns whether nothing of a resource's name is fixed (`*`, `arn:aws:s3:::*`), or it is of any account. */
function isEverything(resource: string): boolean {
  const [, , , , account, ...name] = resource.replaceAll(/\$\{[^}]*\}/g, 'x').split(':');
  return account === '*' || /^[*?/:]*$/.test(name.join(':'));
}
