// Applies the options of the controllers to the compiled template: those of their declarations, and those that a stage
// overrides with --param. What depends on an option follows it: the visibility timeout of a queue is six times the
// timeout of its function, its receives take two days, and two alarms wait for a longer one.
import { OptionError } from './options.ts';
import type { Resource, Template } from './template.ts';

/** An option of a controller, as `outrigger generate` writes it. `value` is the declared one, or that of --param. */
export type ControllerOption = {
  /** Its name in --param: WATER_TANK_CONCURRENCY. */
  readonly parameter: string;
  /** The controller's logical id: WaterTank. */
  readonly controller: string;
  readonly option: string;
  readonly min: number;
  readonly max: number;
  readonly value: string | number;
};

/** The parsed options of each controller, by logical id and option. */
export type ControllerOptions = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Parses the options. Throws OptionError for the first one that is not a whole number within its limits. */
export function readControllerOptions(given: readonly ControllerOption[]): ControllerOptions {
  const byController = new Map<string, Map<string, number>>();
  for (const { parameter, controller, option, min, max, value } of given) {
    const text = String(value).trim();
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!(number >= min && number <= max))
      throw new OptionError(
        `${parameter}: ${JSON.stringify(value)} is not valid; give a whole number from ${min} to ${max}`,
      );
    const options = byController.get(controller) ?? new Map<string, number>();
    byController.set(controller, options.set(option, number));
  }
  return byController;
}

/** Applies the options to a template. */
export function withControllerOptions<T extends Template>(template: T, byController: ControllerOptions): T {
  const resources = { ...template.Resources };
  for (const [controller, options] of byController) {
    for (const [id, resource] of Object.entries(resources)) {
      resources[id] = withOptionsOf(id, resource, controller, options);
    }
  }
  return { ...template, Resources: resources };
}

function withOptionsOf(
  id: string,
  resource: Resource,
  controller: string,
  options: ReadonlyMap<string, number>,
): Resource {
  const { Type, Properties = {} } = resource;
  const withProperties = (more: Readonly<Record<string, unknown>>): Resource => ({
    ...resource,
    Properties: { ...Properties, ...more },
  });
  const timeout = options.get('timeoutSeconds');
  const functionId = `${controller}LambdaFunction`;
  if (id === functionId) {
    return withProperties({
      Timeout: timeout,
      MemorySize: options.get('memoryMb'),
      ...('ReservedConcurrentExecutions' in Properties
        ? { ReservedConcurrentExecutions: options.get('concurrency') }
        : {}),
    });
  }
  // AWS, "Using Lambda with Amazon SQS": at least six times the function's timeout.
  if (id === `${controller}Queue` && timeout !== undefined) {
    const maxReceiveCount = Math.min(1_000, Math.floor(172_800 / (6 * timeout)));
    const RedrivePolicy = { ...Object(Properties.RedrivePolicy), maxReceiveCount };
    return withProperties({ VisibilityTimeout: 6 * timeout, RedrivePolicy });
  }
  // The same as in src/generate/aws/alarms.ts.
  if (id === `${controller}LateAlarm` && timeout !== undefined)
    return withProperties({ Threshold: Math.max(300, 2 * timeout) });
  if (id === `${controller}ErrorsAlarm` && timeout !== undefined) {
    const Period = 300 * Math.ceil(timeout / 300);
    const EvaluationPeriods = Math.max(3, Math.ceil((3 * 7 * timeout) / Period));
    return withProperties({ Period, EvaluationPeriods, DatapointsToAlarm: 3 });
  }
  if (Type === 'AWS::Lambda::EventSourceMapping' && namesFunction(Properties.FunctionName, functionId)) {
    return withProperties({
      BatchSize: options.get('batchSize'),
      ScalingConfig: { MaximumConcurrency: options.get('concurrency') },
    });
  }
  return resource;
}

/** Returns whether a FunctionName is a reference to a function of the template. */
function namesFunction(value: unknown, id: string): boolean {
  return JSON.stringify(value)?.includes(`"${id}"`) === true;
}
