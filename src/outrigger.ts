// The package's main entry: the API for authors of controllers. Only the entries re-export other modules.
export type { Allows, PolicyRule } from './api/allows.ts';
export type {
  Applied,
  ApplyAllOptions,
  ApplyFailure,
  ApplyOptions,
  ChildChange,
  Desired,
  DesiredSet,
  PathOf,
} from './api/apply.ts';
export { hasCondition, notOk, ok, unknown } from './api/conditions.ts';
export type { Context, MapContext } from './api/context.ts';
export type { Controller, ControllerSpec, ResultOf, Watch } from './api/controller-spec.ts';
export { type AnyCustomKind, type CustomKind, defineKind } from './api/custom-kind.ts';
export type { ControllerDeclaration, ControllerDefinition, ControllerInstance } from './api/definition.ts';
export type { CommandRule, Exec, ExecOptions, ExecResult, ExecSpec } from './api/exec.ts';
export { type ForeignKind, foreignKind } from './api/foreign-kind.ts';
export {
  inAnyNamespace,
  type Kind,
  type Live,
  type Meta,
  type ObjectOf,
  type OwnerReference,
  type WithGeneration,
} from './api/kind.ts';
export type { CustomResource, PrinterColumn } from './api/kind-definition.ts';
export type { Permission } from './api/permissions.ts';
export {
  type Dependent,
  deploymentAvailable,
  isCurrent,
  type ReplicatedWorkload,
  readyCondition,
  recordApplyFailures,
  statefulSetReady,
  summarize,
  type Workload,
} from './api/readiness.ts';
export { inNamespaces, type KindInNamespaces, type ListScope, type Read } from './api/reads.ts';
export type { Condition, DeclaredCondition, Finalized, Later, Result } from './api/result.ts';
export { type CelRule, withRule } from './api/rule.ts';
export { type Secret, secret } from './api/secret.ts';
export { type DetailPattern, type OutsideEvent, type Wake, type WakeKey, type WakePattern, wake } from './api/wake.ts';
export { forEachConcurrently } from './core/async.ts';
export type { RetryPolicy } from './core/controller-options.ts';
export {
  FieldOwnedError,
  InvalidResultError,
  InvalidSpecError,
  NotOwnedError,
  RetryLater,
  SettingsError,
  TerminalError,
  toError,
} from './core/errors.ts';
export { parseJson } from './core/json.ts';
export { formatKey, type Key } from './core/key.ts';
export type { KindNames } from './core/kind-names.ts';
export type { Log } from './core/log.ts';
export { controllerUidOf } from './core/owner.ts';
export type { LabelExpression, LabelSelector, Selector } from './core/selector.ts';
