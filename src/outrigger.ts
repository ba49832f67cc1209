// The package's main entry: what an author of controllers writes with. One of three entries that pass on what others export.
export { aggregate, type Dependent, readinessOf, type Settled, settleChildren } from './core/aggregate.ts';
export { availabilityOf, isCurrent, type Workload } from './core/availability.ts';
export type { Context, Log } from './core/context.ts';
export { type Controller, defineController, type Registered, type Watch } from './core/controller.ts';
export { InvalidResultError, InvalidSpecError, NotOwnedError, SettingsError, TerminalError } from './core/errors.ts';
export type { AllowedCommand, Exec, ExecDeclaration, ExecOptions, Executed } from './core/exec.ts';
export type { Key } from './core/key.ts';
export { type Child, existingKind, type Kind, type KindNames, type Meta, type ObjectOf } from './core/kind.ts';
export { type Custom, defineResource, type Resource } from './core/resource.ts';
export type { Condition, Finalized, Result, StandingCondition } from './core/result.ts';
export { type CelRule, withRule } from './core/rule.ts';
