// The package's main entry: what an author of controllers writes with. One of three entries that pass on what others export.
export {
  aggregate,
  type Dependent,
  readinessOf,
  type Settled,
  settleChildren,
  warnOfRefusals,
} from './core/aggregate.ts';
export { atATime } from './core/at-a-time.ts';
export { availabilityOf, isCurrent, type Replicated, readyReplicasOf, type Workload } from './core/availability.ts';
export type { ChildChange, ChildrenOptions } from './core/children.ts';
export { isStanding } from './core/conditions.ts';
export type { Context, Log } from './core/context.ts';
export { type Controller, defineController, type Registered, type Watch } from './core/controller.ts';
export { controllerUidOf } from './core/owner.ts';
export { InvalidResultError, InvalidSpecError, NotOwnedError, SettingsError, TerminalError } from './core/errors.ts';
export type { AllowedCommand, Exec, ExecDeclaration, ExecOptions, Executed } from './api/exec.ts';
export type { Key } from './core/key.ts';
export { type Child, existingKind, type Kind, type KindNames, type Meta, type ObjectOf } from './core/kind.ts';
export { parseJson } from './core/parse-json.ts';
export { type AnyResource, type Custom, defineResource, type Resource } from './core/resource.ts';
export type { Condition, Finalized, Result, StandingCondition } from './core/result.ts';
export { type CelRule, withRule } from './api/rule.ts';
export { type Secret, secret } from './api/secret.ts';
