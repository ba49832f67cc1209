// What a deployment may be told beside its stage, region and the controllers' settings: the defaults stand in serverless.yml under
// params, where a stage may have others, and `--param NAME=value` goes before both. Everything is read here, once, so that a wrong
// value ends in one line before anything is packaged.

/** A deployment's options, read. What is undefined was not given. */
export type Options = {
  /** How long CloudWatch keeps the functions' logs. */
  readonly logRetentionDays: number;
  /** A topic that alarms tell; without it the deployment makes its own. */
  readonly alarmTopicArn?: string | undefined;
  /** A key for the queues, instead of SQS' own. */
  readonly kmsKeyArn?: string | undefined;
  /** Where functions are to be, for clusters that only a VPC reaches. */
  readonly vpc?: { readonly subnetIds: readonly string[]; readonly securityGroupIds: readonly string[] } | undefined;
  /** Whether AWS X-Ray records what functions do. */
  readonly tracing: boolean;
};

/** An option that cannot be: one line that names it and says what it should be. */
export class OptionError extends Error {
  override readonly name = 'OptionError';
}

/** The names of all options, as `--param` takes them. */
const optionNames = [
  'LOG_RETENTION_DAYS',
  'ALARM_TOPIC_ARN',
  'KMS_KEY_ARN',
  'VPC_SUBNET_IDS',
  'VPC_SECURITY_GROUP_IDS',
  'TRACING',
  'METRICS_PER_CLUSTER',
] as const;

/** What CloudWatch Logs takes (PutRetentionPolicy). */
const retentionDays = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];
const topicArn = /^arn:aws[\w-]*:sns:[\w-]+:\d{12}:[\w-]+$/;
/** An alias will not do: IAM knows keys by their ARN alone. */
const keyArn = /^arn:aws[\w-]*:kms:[\w-]+:\d{12}:key\/[\w-]+$/;

/** Reads the options. Throws OptionError. */
export function readOptions(given: Readonly<Record<string, unknown>>): Options {
  const text = (name: (typeof optionNames)[number]): string => String(given[name] ?? '').trim();
  const matching = (name: (typeof optionNames)[number], pattern: RegExp, example: string): string | undefined => {
    const value = text(name);
    if (value !== '' && !pattern.test(value)) throw wrong(name, value, `give an ARN like ${example}`);
    return value === '' ? undefined : value;
  };
  const listOf = (name: (typeof optionNames)[number], pattern: RegExp, example: string): readonly string[] => {
    const values = text(name)
      .split(/[\s,]+/)
      .filter((value) => value !== '');
    const odd = values.find((value) => !pattern.test(value));
    if (odd !== undefined) throw wrong(name, odd, `give ids, with commas between them, like ${example}`);
    return values;
  };

  const days = Number(text('LOG_RETENTION_DAYS'));
  if (!retentionDays.includes(days))
    throw wrong('LOG_RETENTION_DAYS', text('LOG_RETENTION_DAYS'), `give one of ${retentionDays.join(', ')}`);
  const tracing = text('TRACING');
  if (tracing !== 'on' && tracing !== 'off') throw wrong('TRACING', tracing, 'give on or off');
  // The functions read this one themselves.
  const perCluster = text('METRICS_PER_CLUSTER');
  if (perCluster !== 'true' && perCluster !== 'false')
    throw wrong('METRICS_PER_CLUSTER', perCluster, 'give true or false');

  const subnetIds = listOf('VPC_SUBNET_IDS', /^subnet-([0-9a-f]{8}|[0-9a-f]{17})$/, 'subnet-0a1b2c3d,subnet-4e5f6a7b');
  const securityGroupIds = listOf('VPC_SECURITY_GROUP_IDS', /^sg-([0-9a-f]{8}|[0-9a-f]{17})$/, 'sg-0a1b2c3d');
  if (subnetIds.length === 0 && securityGroupIds.length > 0)
    throw new OptionError('VPC_SUBNET_IDS is needed beside VPC_SECURITY_GROUP_IDS: --param VPC_SUBNET_IDS=subnet-...');
  if (subnetIds.length > 0 && securityGroupIds.length === 0)
    throw new OptionError(
      'VPC_SECURITY_GROUP_IDS is needed beside VPC_SUBNET_IDS: --param VPC_SECURITY_GROUP_IDS=sg-...',
    );

  return {
    logRetentionDays: days,
    alarmTopicArn: matching('ALARM_TOPIC_ARN', topicArn, 'arn:aws:sns:eu-central-1:123456789012:on-call'),
    kmsKeyArn: matching('KMS_KEY_ARN', keyArn, 'arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d'),
    vpc: subnetIds.length > 0 ? { subnetIds, securityGroupIds } : undefined,
    tracing: tracing === 'on',
  };
}

/** Refuses what `--param` was given and nobody reads: a slip of the pen would otherwise deploy the default. Throws OptionError. */
export function refuseUnknown(given: readonly string[], settings: readonly string[]): void {
  const known = [...optionNames, ...settings];
  for (const name of given.map((pair) => pair.split('=')[0] ?? '')) {
    if (!known.includes(name))
      throw new OptionError(`--param ${name}: nothing reads it; there are ${known.join(', ')}`);
  }
}

function wrong(name: string, value: string, remedy: string): OptionError {
  return new OptionError(`${name}: ${JSON.stringify(value)} will not do; ${remedy}`);
}
