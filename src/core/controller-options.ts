// The options of a controller: their defaults, their limits, and what is derived from them. The declaration, the
// template of the deployment, the runtime, the resync and the watcher read them here.
import { SchemaError } from './errors.ts';

/** The retries of a failed reconcile. The delay doubles from `firstSeconds` to `maxSeconds`. */
export type RetryPolicy = {
  /** The delay before the second attempt, 1 to 43,200. Default 2. */
  readonly firstSeconds: number;
  /** The longest delay, up to 86,400. Default 900. */
  readonly maxSeconds: number;
  /** Failed attempts after which a message becomes a dead letter, 1 to 1,000. Default 10. */
  readonly attempts: number;
};

/** The options that an author may give. Absent: the default of {@link controllerOptions}. */
export type OptionsSpec = {
  /** The most batches at a time (maximum concurrency of the event source mapping); 2 to 1,000. Default 10. */
  readonly concurrency?: number;
  /** Reserves `concurrency` of the account's concurrent executions for the function. Default false. */
  readonly reservedConcurrency?: boolean;
  /** The time limit of one batch, 10 to 900. The visibility timeout of the queue is six times as long. Default 30. */
  readonly timeoutSeconds?: number;
  /** The memory of the function, 128 to 10,240. Its share of CPU grows with it. Default 256. */
  readonly memoryMb?: number;
  /** The most messages in one batch, 1 to 10. Default 10. */
  readonly batchSize?: number;
  /** Retries of a failed reconcile. Default: from 2 s to 900 s, 10 attempts. */
  readonly retry?: Partial<RetryPolicy>;
  /**
   * The rate limit of changes in each watcher. Absent: that of the watcher (RATE_LIMIT_PER_SECOND, RATE_LIMIT_BURST).
   */
  readonly rateLimit?: {
    /** Keys a second, 0.1 to 10,000. */
    readonly perSecond: number;
    /** Keys at once, 1 to 100,000. Default: ten seconds of the rate. */
    readonly burst?: number;
  };
  /**
   * How long until every object has been reconciled once more although nothing happened, 60 to 31,536,000. Default
   * 36,000 (10 h); 3,600 for a foreign kind without `evidence`.
   */
  readonly resyncPeriodSeconds?: number;
};

/** The options of a controller, with the defaults applied. */
export type ControllerOptions = {
  readonly concurrency: number;
  readonly reservedConcurrency: boolean;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  readonly batchSize: number;
  readonly retry: RetryPolicy;
  readonly rateLimit?: { readonly perSecond: number; readonly burst: number };
  readonly resyncPeriodSeconds: number;
};

type Limit = { readonly default: number; readonly min: number; readonly max: number };

/**
 * The options of the function and its queue. A deployment may override each one (`--param WATER_TANK_CONCURRENCY=20`).
 * Sources: AWS Lambda, "Configuring scaling behavior for SQS event source mappings" (2 to 1,000), "Lambda quotas", and
 * the ten messages of a batch from a FIFO queue. A function needs some seconds for its report after its deadline.
 */
export const functionLimits = {
  concurrency: { default: 10, min: 2, max: 1_000 },
  timeoutSeconds: { default: 30, min: 10, max: 900 },
  memoryMb: { default: 256, min: 128, max: 10_240 },
  batchSize: { default: 10, min: 1, max: 10 },
} satisfies Readonly<Record<string, Limit>>;

/** An option that a deployment may override. */
export type FunctionOption = keyof typeof functionLimits;

const retryLimits = {
  firstSeconds: { default: 2, min: 1, max: 43_200 },
  maxSeconds: { default: 900, min: 1, max: 86_400 },
  attempts: { default: 10, min: 1, max: 1_000 },
} satisfies Readonly<Record<keyof RetryPolicy, Limit>>;

const resyncPeriod: Limit = { default: 36_000, min: 60, max: 31_536_000 };
const ratePerSecond = { min: 0.1, max: 10_000 };
const rateBurst = { min: 1, max: 100_000 };

/** The retries of a controller that declares none. */
export const defaultRetry: RetryPolicy = {
  firstSeconds: retryLimits.firstSeconds.default,
  maxSeconds: retryLimits.maxSeconds.default,
  attempts: retryLimits.attempts.default,
};

/** Returns a queue's visibility timeout: six times the function's timeout ("Using Lambda with Amazon SQS"). */
export function visibilitySecondsOf(timeoutSeconds: number): number {
  return 6 * timeoutSeconds;
}

/**
 * Returns how many times SQS delivers a message: for about two days, and at most as often as SQS allows. Receives are
 * not attempts of a reconcile, which the function counts itself. Throttles and failed deployments are receives too, for
 * keys that were never tried.
 */
export function maxReceiveCountOf(timeoutSeconds: number): number {
  return Math.min(1_000, Math.floor(172_800 / visibilitySecondsOf(timeoutSeconds)));
}

/**
 * Returns the age at which a change that was not reconciled counts as missed. A change whose function died is
 * reconciled after the visibility timeout, so a function with a longer timeout than the default has more time.
 * @param withDefaults the age for a function with the default timeout
 */
export function missedAfterSecondsOf({ timeoutSeconds }: ControllerOptions, withDefaults: number): number {
  const longer = visibilitySecondsOf(timeoutSeconds) - visibilitySecondsOf(functionLimits.timeoutSeconds.default);
  return withDefaults + Math.max(0, longer);
}

/** The defaults of the resync, in seconds: its settings have the same names. */
export const resyncDefaults = { missedAfterSeconds: 240, runIntervalSeconds: 600 };

/** A change that is unobserved for so many run intervals after it counted as missed is overdue. */
const overdueRuns = 3;

/** Returns the age at which a missed change is overdue: its key has usually been sent by three runs. */
export function overdueAfterSecondsOf(
  options: ControllerOptions,
  { missedAfterSeconds, runIntervalSeconds }: typeof resyncDefaults = resyncDefaults,
): number {
  return missedAfterSecondsOf(options, missedAfterSeconds) + overdueRuns * runIntervalSeconds;
}

/**
 * Applies the defaults to a controller's options. Throws SchemaError with the path of the first invalid option, such as
 * `controller water-tank.retry.attempts`.
 */
export function controllerOptions(controller: string, spec: OptionsSpec): ControllerOptions {
  const within = (option: string, value: number, { min, max }: { readonly min: number; readonly max: number }) => {
    if (typeof value === 'number' && value >= min && value <= max) return value;
    const given = typeof value === 'number' ? value : (JSON.stringify(value) ?? typeof value);
    throw new SchemaError(
      `controller ${controller}.${option}`,
      `${given} is not valid; give a number from ${min} to ${max}`,
    );
  };
  const whole = (option: string, value: number | undefined, limit: Limit): number => {
    const given = within(option, value === undefined ? limit.default : value, limit);
    if (Number.isInteger(given)) return given;
    throw new SchemaError(`controller ${controller}.${option}`, `${given} is not valid; give a whole number`);
  };
  const { retry = {}, rateLimit, reservedConcurrency = false } = spec;
  const firstSeconds = whole('retry.firstSeconds', retry.firstSeconds, retryLimits.firstSeconds);
  const maxSeconds = whole('retry.maxSeconds', retry.maxSeconds, {
    ...retryLimits.maxSeconds,
    default: Math.max(retryLimits.maxSeconds.default, firstSeconds),
    min: firstSeconds,
  });
  const rateOf = (rate: NonNullable<typeof rateLimit>) => {
    const perSecond = within('rateLimit.perSecond', rate.perSecond, ratePerSecond);
    const burst = Math.max(rateBurst.min, Math.ceil(10 * perSecond));
    return { perSecond, burst: whole('rateLimit.burst', rate.burst, { ...rateBurst, default: burst }) };
  };
  return {
    concurrency: whole('concurrency', spec.concurrency, functionLimits.concurrency),
    reservedConcurrency,
    timeoutSeconds: whole('timeoutSeconds', spec.timeoutSeconds, functionLimits.timeoutSeconds),
    memoryMb: whole('memoryMb', spec.memoryMb, functionLimits.memoryMb),
    batchSize: whole('batchSize', spec.batchSize, functionLimits.batchSize),
    retry: { firstSeconds, maxSeconds, attempts: whole('retry.attempts', retry.attempts, retryLimits.attempts) },
    ...(rateLimit === undefined ? {} : { rateLimit: rateOf(rateLimit) }),
    resyncPeriodSeconds: whole('resyncPeriodSeconds', spec.resyncPeriodSeconds, resyncPeriod),
  };
}

/** Returns the name of an option as a parameter of the deployment: `WATER_TANK_TIMEOUT_SECONDS`. */
export function optionParameter(controller: string, option: string): string {
  const words = `${controller}-${option.replaceAll(/[A-Z]/g, (letter) => `-${letter}`)}`;
  return words.replaceAll('-', '_').toUpperCase();
}
