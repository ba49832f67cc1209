// The options of a deployment besides its stage, its region and the controllers' settings. serverless.yml
// sets them under params, for a stage or for all. `--param NAME=value` overrides both. All options are
// parsed here, once, so that an invalid value ends with a one-line error before anything is packaged.

import { optionDefaults } from '../aws/deployment.ts';
import { rolePath } from '../aws/names.ts';
import type { Monitoring } from './monitoring.ts';

/** The parsed options of a deployment (aws/deployment.ts). An undefined option was not set. */
export type Options = ReturnType<typeof readOptions>;

/** The location of the clusters table. */
export type ClustersTable =
  | { readonly type: 's3'; readonly bucket: string; readonly key: string }
  | { readonly type: 'ssm'; readonly path: string };

/** An invalid option. The message is one line: the option and its valid values. */
export class OptionError extends Error {
  override readonly name = 'OptionError';
}

const controllerName = /^[a-z]([a-z0-9-]*[a-z0-9])?$/;
const roleArn = /^arn:aws[\w-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/;
const policyArn = /^arn:aws[\w-]*:iam::(\d{12}|aws):policy\/[\w+=,.@/-]+$/;

/** The values that CloudWatch Logs accepts (PutRetentionPolicy). */
const retentionDays = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];
const topicArn = /^arn:aws[\w-]*:sns:[\w-]+:\d{12}:[\w-]+$/;
const secretName = 'give the name of a secret like cafes/prod/otlp-headers';
/** Not an alias: IAM policies identify a key by its ARN only. */
const keyArn = /^arn:aws[\w-]*:kms:[\w-]+:\d{12}:key\/[\w-]+$/;

/** Parses the options. Throws OptionError. */
export function readOptions(given: Readonly<Record<string, unknown>>) {
  // An option that is given empty has its default.
  const text = (name: keyof typeof optionDefaults): string => String(given[name] ?? '').trim() || optionDefaults[name];
  const checked = (name: keyof typeof optionDefaults, pattern: RegExp, remedy: string): string => {
    const value = text(name);
    if (value !== '' && !pattern.test(value)) throw invalidOption(name, value, remedy);
    return value;
  };
  const arn = (name: keyof typeof optionDefaults, pattern: RegExp, example: string): string | undefined =>
    checked(name, pattern, `give an ARN like ${example}`) || undefined;
  const listOf = (
    name: keyof typeof optionDefaults,
    pattern: RegExp,
    example: string,
    what = 'ids',
  ): readonly string[] => {
    const values = text(name)
      .split(/[\s,]+/)
      .filter((value) => value !== '');
    const invalid = values.find((value) => !pattern.test(value));
    if (invalid !== undefined) throw invalidOption(name, invalid, `give comma-separated ${what} like ${example}`);
    return values;
  };

  const days = Number(text('LOG_RETENTION_DAYS'));
  if (!retentionDays.includes(days))
    throw invalidOption('LOG_RETENTION_DAYS', text('LOG_RETENTION_DAYS'), `give one of ${retentionDays.join(', ')}`);
  // Checked only: the functions read these options themselves, and SENDERS without spaces.
  checked('LOG_LEVEL', /^(DEBUG|INFO|WARN|ERROR)$/, 'give DEBUG, INFO, WARN or ERROR');
  checked('METRICS_PER_CLUSTER', /^(true|false)$/, 'give true or false');
  checked('SENDER_CHECK', /^(on|off)$/, 'give on or off');
  const roleIds = 'give comma-separated ids like AROA1234567890EXAMPLE';
  checked('SENDERS', /^(A(ROA|IDA)[A-Z0-9]{12,128}(,|$))*$/, roleIds);
  checked('OTEL_EXPORTER_OTLP_ENDPOINT', /^https?:\/\/\S+$/, 'give a URL like https://collector:4318');
  checked('RESYNC_PERIOD_SECONDS', /^[1-9]\d*$/, 'give a whole number of seconds');
  checked('RESYNC_MISSED_AFTER_SECONDS', /^[1-9]\d*$/, 'give a whole number of seconds');
  const subnetIds = listOf('VPC_SUBNET_IDS', /^subnet-([0-9a-f]{8}|[0-9a-f]{17})$/, 'subnet-0a1b2c3d,subnet-4e5f6a7b');
  const securityGroupIds = listOf('VPC_SECURITY_GROUP_IDS', /^sg-([0-9a-f]{8}|[0-9a-f]{17})$/, 'sg-0a1b2c3d');
  if (subnetIds.length === 0 && securityGroupIds.length > 0)
    throw new OptionError('VPC_SUBNET_IDS is required with VPC_SECURITY_GROUP_IDS: --param VPC_SUBNET_IDS=subnet-...');
  if (subnetIds.length > 0 && securityGroupIds.length === 0)
    throw new OptionError(
      'VPC_SECURITY_GROUP_IDS is required with VPC_SUBNET_IDS: --param VPC_SECURITY_GROUP_IDS=sg-...',
    );

  return {
    logRetentionDays: days,
    alarmTopicArn: arn('ALARM_TOPIC_ARN', topicArn, 'arn:aws:sns:eu-central-1:123456789012:on-call'),
    kmsKeyArn: arn('KMS_KEY_ARN', keyArn, 'arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d'),
    permissionsBoundary: arn('PERMISSIONS_BOUNDARY', policyArn, 'arn:aws:iam::123456789012:policy/boundary'),
    rolePath: checked('ROLE_PATH', rolePath, 'give a path like /outrigger/'),
    watcherRoles: listOf('WATCHER_ROLES', roleArn, 'arn:aws:iam::210987654321:role/watcher', 'ARNs'),
    clustersTable: clustersTableOf(text('CLUSTERS_TABLE')),
    vpc: subnetIds.length > 0 ? { subnetIds, securityGroupIds } : undefined,
    tracing: checked('TRACING', /^(on|off)$/, 'give on or off') === 'on',
    traceHeadersSecret: checked('OTEL_EXPORTER_OTLP_HEADERS_SECRET', /^[\w/+=.@-]*$/, secretName) || undefined,
    monitoring: checked('MONITORING', /^(full|lean|off)$/, 'give full, lean or off') as Monitoring,
    paused: listOf('PAUSED', controllerName, 'water-tank,dinner', 'controllers'),
    discard: listOf('DISCARD', controllerName, 'water-tank,dinner', 'controllers'),
  };
}

/** Refuses a key or a topic of another region, which SQS and CloudWatch refuse after the upload. Throws OptionError. */
export function checkRegion({ kmsKeyArn, alarmTopicArn }: Options, region: string): void {
  const given = [
    ['KMS_KEY_ARN', 'key', kmsKeyArn],
    ['ALARM_TOPIC_ARN', 'topic', alarmTopicArn],
  ] as const;
  for (const [name, what, arn] of given) {
    const of = arn?.split(':')[3];
    if (of !== undefined && of !== region)
      throw new OptionError(
        `${name}: the ${what} is in ${of}, and the deployment in ${region}; give one in ${region}, or --region ${of}`,
      );
  }
}

/**
 * Refuses unknown names in `--param` and in the `params` of serverless.yml, because a typing error would otherwise
 * deploy the default, and a setting with the name of an option, because both would have one value. Throws OptionError.
 * @param text of the file: osls has resolved `${self:params.default.NAME}` before, and nothing else shows the use
 */
export function refuseUnknown(
  param: readonly string[],
  settings: readonly string[],
  serverless: { readonly params?: Readonly<Record<string, object | undefined>> } = {},
  text = '',
): void {
  const optionNames = Object.keys(optionDefaults);
  const twice = optionNames.find((name) => settings.includes(name));
  if (twice !== undefined)
    throw new OptionError(`the setting ${twice} of a controller has the name of an option; rename the setting`);
  const known = [...optionNames, ...settings];
  const uses = [...(JSON.stringify(serverless) + text).matchAll(/\b(?:param:|self:params\.[\w-]+\.)([\w-]*)(\$\{)?/g)];
  // Of `param:TOPIC_${...}` only the beginning of the name is known.
  const isUsed = (name: string) =>
    uses.some(([, start = '', nested]) => (nested === undefined ? name === start : name.startsWith(start)));
  const inFile = Object.entries(serverless.params ?? {}).flatMap(([stage, given]) =>
    Object.keys(given ?? {}).map((name) => [`serverless.yml: params.${stage}.`, name] as const),
  );
  // Options and settings are upper-case. Another name in the file is the author's own: its use may be out of sight.
  const isOwn = (name: string) =>
    inFile.some(([, one]) => one === name) && !/^[A-Z][A-Z0-9_]*$/.test(name) && !known.includes(name.toUpperCase());
  const inCommand = param.map((pair) => ['--param ', pair.split('=')[0] ?? ''] as const);
  // What another file uses is not seen here. A file in params gives a value; in those of another stage it is not read.
  const hasFiles = JSON.stringify({ ...serverless, params: undefined }).includes('${file(');
  for (const [place, name] of [...inCommand, ...(hasFiles ? [] : inFile)])
    if (!known.includes(name) && !isOwn(name) && !isUsed(name))
      throw new OptionError(
        `${place}${name}: unknown parameter; use one of ${known.join(', ')}, or one that serverless.yml has as ` +
          '${param:NAME}',
      );
}

/** Parameters of the stack that nothing reads any more, and the options that say the same. The schedule is fixed. */
const formerParameters: Readonly<Record<string, string>> = {
  ResyncPeriodSeconds: 'RESYNC_PERIOD_SECONDS',
  ResyncScheduleSeconds: 'RESYNC_PERIOD_SECONDS',
  ResyncMissedAfterSeconds: 'RESYNC_MISSED_AFTER_SECONDS',
};

/** Refuses parameters of serverless.yml that nothing reads any more. Throws OptionError with what says the same. */
export function refuseFormer(parameters: readonly string[]): void {
  const former = parameters.find((name) => name in formerParameters);
  if (former !== undefined)
    throw new OptionError(
      `serverless.yml: nothing reads the parameter ${former} any more; remove it, and give ` +
        `${formerParameters[former]} under params`,
    );
}

function clustersTableOf(value: string): ClustersTable | undefined {
  if (value === '') return undefined;
  const [, bucket, key] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/([A-Za-z0-9/_.-]+)$/.exec(value) ?? [];
  if (bucket !== undefined && key !== undefined) return { type: 's3', bucket, key };
  const [, path] = /^ssm:(\/[A-Za-z0-9/_.-]+?)\/?$/.exec(value) ?? [];
  if (path !== undefined) return { type: 'ssm', path };
  throw invalidOption('CLUSTERS_TABLE', value, 'give s3://bucket/clusters.json or ssm:/path/');
}

function invalidOption(name: string, value: string, remedy: string): OptionError {
  return new OptionError(`${name}: ${JSON.stringify(value)} is not valid; ${remedy}`);
}
