// A controller: its kind, the kinds that it owns and reads, and its reconcile function. Authors pass a ControllerSpec
// to the `controller` method of their kind. The rest of the system uses the resulting ControllerDefinition
// (definition.ts).
import { controllerOptions } from '../core/controller-options.ts';
import { SettingsError } from '../core/errors.ts';
import { formatZodIssues } from '../core/json.ts';
import { awaitCalls } from './awaited-calls.ts';
import { checkSpec } from './check-spec.ts';
import { type Context, type ContextTypes, contextOfOneCall, typeContext } from './context.ts';
import type { AnySpec, DefineController, PrimaryTypes } from './controller-spec.ts';
import type {
  ClientsOptions,
  ControllerDeclaration,
  ControllerDefinition,
  ControllerInstance,
  Environment,
  PrimaryKind,
} from './definition.ts';
import type { StatusView } from './kind-definition.ts';
import { createResultParser, parseFinalized } from './parse-result.ts';
import { connectSecrets, type SecretReader } from './secret.ts';
import type { StatusSlice } from './status-slice.ts';
import { wake } from './wake.ts';

/** Makes the `controller` method of a kind, or of a slice of it. */
export function controllersOf<P extends PrimaryTypes>(
  resource: PrimaryKind,
  view: StatusView<P['primary']>,
  slice?: StatusSlice,
): DefineController<P> {
  return (name, spec) => {
    checkSpec(name, spec);
    // The only place where a spec loses its types. `start` calls it with values of the types that it was written with.
    const written = spec as unknown as AnySpec;
    const { reconcile, finalize } = written;
    const inOneCall =
      <R>(run: (object: object, context: Context<ContextTypes>) => Promise<R>): typeof run =>
      async (object, context) =>
        await awaitCalls(contextOfOneCall(name, context), async (one) => await run.call(written, object, one));
    const any: AnySpec = {
      ...written,
      reconcile: inOneCall(reconcile),
      ...(finalize === undefined ? {} : { finalize: inOneCall(finalize) }),
    };
    const definition: ControllerDefinition = {
      name,
      declaration: declarationOf(name, resource, any, slice),
      start: (environment, secrets, options) =>
        startController(name, view, any, { dryRun: false, ...options, environment, secrets }),
    };
    return { ...any, ...definition } as unknown as ReturnType<DefineController<P>> as never;
  };
}

function declarationOf(
  name: string,
  resource: PrimaryKind,
  spec: AnySpec,
  slice: StatusSlice | undefined,
): ControllerDeclaration {
  const { owns = [], reads = [], watches = [], wakes = [], allows, settings, exec, sets, changes, evidence } = spec;
  return {
    resource,
    owns,
    reads,
    watches: watches.map((watch) => ({
      kind: watch.kind,
      selector: watch.selector,
      changes: watch.changes,
      ...('label' in watch ? { label: watch.label, via: watch.via } : {}),
    })),
    wakes: wakes.map((one) => wake(one, one.mapToKeys)),
    finalizes: spec.finalize !== undefined,
    changes,
    evidence,
    ...(spec.finalizer === undefined ? {} : { blocksDeletion: true }),
    options: controllerOptions(name, withPeriod(resource, spec, slice)),
    statusSlice: slice,
    selector: spec.selector,
    allows,
    settings,
    permissions: spec.permissions,
    exec,
    sets,
    deletesSelf: spec.deletesSelf,
  };
}

/**
 * A foreign kind has no observedGeneration of this controller, so the resync cannot find missed changes without
 * evidence. Its objects are reconciled every hour instead.
 */
function withPeriod({ definition }: PrimaryKind, spec: AnySpec, slice: StatusSlice | undefined): AnySpec {
  const isBlind = definition === undefined && spec.evidence === undefined && slice?.isObserved === undefined;
  return isBlind && spec.resyncPeriodSeconds === undefined ? { ...spec, resyncPeriodSeconds: 3_600 } : spec;
}

type Start = ClientsOptions & { readonly environment: Environment; readonly secrets: SecretReader | undefined };

function startController(name: string, view: StatusView, spec: AnySpec, start: Start): ControllerInstance {
  const clients = makeClients(name, spec, start);
  const parseResult = createResultParser(view);
  const { owns, reads, exec, sets, deletesSelf } = spec;
  const access = { name, owns, reads, exec, sets, deletesSelf };
  return {
    reconcile: async (raw, context) =>
      parseResult(await spec.reconcile(view.read(raw), typeContext(context, clients, access))),
    finalize: async (raw, context) =>
      spec.finalize === undefined
        ? 'done'
        : parseFinalized(await spec.finalize(view.read(raw), typeContext(context, clients, access))),
    mapToKeys: async (index, changed, context) => {
      const watch = spec.watches?.[index];
      return watch !== undefined && 'mapToKeys' in watch
        ? await awaitCalls(typeContext(context, clients, access), async (one) => await watch.mapToKeys(changed, one))
        : [];
    },
  };
}

function makeClients(name: string, { settings, clients }: AnySpec, { environment, secrets, dryRun }: Start): unknown {
  // CloudFormation cannot leave a variable out, so an empty variable counts as absent.
  // A strict schema accepts its own variables alone, and a loose one is given all.
  const isStrict = settings?.def.catchall?._zod.def.type === 'never';
  const isGiven = ([name, value]: [string, unknown]) =>
    value !== '' && !(isStrict && !Object.hasOwn(settings.shape, name));
  const given = Object.fromEntries(Object.entries(environment).filter(isGiven));
  const parsed = settings?.safeParse(given);
  if (parsed !== undefined && !parsed.success) {
    throw new SettingsError(`controller ${name} needs in its environment ${formatZodIssues(parsed.error)}`);
  }
  if (parsed !== undefined && secrets !== undefined) connectSecrets(parsed.data, secrets, name);
  return clients?.(parsed?.data ?? {}, { dryRun }) ?? {};
}
