// The limits of a stack, counted before anything is packaged. A stack that grows over one cannot be split: moving a
// queue into another stack deletes it. So the number of controllers that fits is known early, and the way out is a
// second project.
//
// Sources: AWS CloudFormation quotas (resources, parameters, template), IAM quotas (characters of policies, without
// whitespace), Lambda quotas (environment), CloudWatch (widgets).
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { UserError } from 'outrigger/internal/core/errors';
import { controllerQueue } from 'outrigger/internal/core/names';
import { awsOf } from './resources.ts';

/** One limit: how much of it a registry uses, and how many controllers like these would fit. */
type StackLimit = {
  readonly what: string;
  readonly used: number;
  readonly limit: number;
  readonly fits: number;
};

/** The resources that osls adds once, without the alarm of lean monitoring. A test counts them. */
const sharedResources = 7;
/** A function also has a log group, itself, and an event source mapping, which osls makes. */
const functionResources = 3;
/** The wake function, if a controller has events outside of the cluster: its log group and itself. */
const wakeResources = 2;
/** The longest name of a deployment before a controller's name (`<project>-<stage>-`) that is planned for. */
const prefixLength = 32;
const arnLength = 'arn:aws-us-gov:sqs:ap-southeast-1:123456789012:'.length + prefixLength;
/** The longest value of a variable that is planned for. */
const valueLength = 80;
/** Variables that every function has. */
const sharedEnvironment = 900;
/** The statements of a policy besides the ARNs of queues. */
const policyFrame = 900;
/** osls writes the template without spaces, with what it adds for each function. */
const functionBytes = 1_500;
const sharedBytes = 4_500;
/** The quotes and the comma around an ARN. */
const quotes = 3;

const maxResources = 500;
const maxParameters = 200;
const maxManagedPolicy = 6_144;
const maxInlinePolicies = 10_240;
const maxEnvironment = 4_096;
const maxTemplateBytes = 1_000_000;

/** The share of a limit from which a registry gets a warning. */
const warnShare = 0.8;

/** Counts what a registry uses of each limit. */
export function stackLimits(registry: readonly ControllerDefinition[]): readonly StackLimit[] {
  const count = registry.length;
  const own = sizeOf(registry);
  const once = sizeOf([]);
  const arns = registry.reduce((sum, { name }) => sum + arnLength + controllerQueue(name).length + quotes, 0);
  const environment = registry.map(({ declaration }) =>
    Object.keys(declaration.settings?.shape ?? {}).reduce(
      (sum, name) => sum + name.length + valueLength,
      sharedEnvironment,
    ),
  );
  const wakes = registry.some(({ declaration }) => declaration.wakes.length > 0);
  const measure = (what: string, shared: number, controllers: number, limit: number): StackLimit => ({
    what,
    used: shared + controllers,
    limit,
    fits: controllers === 0 ? Infinity : Math.floor((limit - shared) / (controllers / count)),
  });
  return [
    measure(
      'resources',
      sharedResources + once.resources + (wakes ? wakeResources : 0),
      own.resources - once.resources + functionResources * count,
      maxResources,
    ),
    measure('parameters', once.parameters, own.parameters - once.parameters, maxParameters),
    measure("characters in the watchers' policy", policyFrame, arns, maxManagedPolicy),
    measure('characters in the policy of timers', policyFrame, arns, maxInlinePolicies),
    measure(
      'bytes in the template',
      sharedBytes + once.bytes,
      own.bytes - once.bytes + functionBytes * count,
      maxTemplateBytes,
    ),
    // Each function has its own: it does not grow with the controllers.
    {
      what: "bytes in a function's environment",
      used: Math.max(0, ...environment),
      limit: maxEnvironment,
      fits: count,
    },
  ];
}

/**
 * Refuses a registry that a stack cannot hold, with the number of controllers that fits. Returns a warning for each
 * limit that is nearly reached. Throws UserError.
 */
export function checkStackLimits(registry: readonly ControllerDefinition[]): readonly string[] {
  const limits = stackLimits(registry);
  const over = limits.filter(({ used, limit }) => used > limit).toSorted((a, b) => a.fits - b.fits);
  const [first] = over;
  if (first !== undefined) throw new UserError(`${usage(first)}; ${wayOut(first, registry.length)}`);
  return limits
    .filter(({ used, limit }) => used >= warnShare * limit)
    .map(
      (one) =>
        `${usage(one)}; ${one.fits > registry.length ? `${one.fits} controllers like these fit` : 'it is nearly full'}`,
    );
}

function usage({ what, used, limit }: StackLimit): string {
  return `${used} ${what}, of at most ${limit} in a stack`;
}

function wayOut({ fits }: StackLimit, count: number): string {
  if (fits >= count) return 'give the controller fewer settings, or keep them in one secret';
  const exit = 'move the others to a second project, which can use the same clusters table';
  return `${fits} controllers like these fit; ${exit}`;
}

function sizeOf(registry: readonly ControllerDefinition[]) {
  const { resources } = awsOf(registry);
  return {
    resources: Object.keys(resources.Resources).length,
    parameters: Object.keys(resources.Parameters).length,
    bytes: JSON.stringify(resources).length,
  };
}
