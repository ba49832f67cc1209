// What a deployment is given: its project and stage, which are in every name, and its options.
import type { Json, JsonObject } from 'outrigger/internal/core/json';
import { metricsNamespace, namePrefix } from './names.ts';

/** A deployment: its project and its stage. */
export type Deployment = { readonly project: string; readonly stage: string };

/**
 * The options of a deployment with their defaults. A project sets them in serverless.yml under params, for a stage or
 * for all, or with --param NAME=value. The options of a controller are declared where the controller is, and set in the
 * same way: WATER_TANK_CONCURRENCY, _TIMEOUT_SECONDS, _MEMORY_MB and _BATCH_SIZE.
 */
export const optionDefaults = {
  /** Retention of the functions' logs in CloudWatch, in days. */
  LOG_RETENTION_DAYS: '30',
  /** The SNS topic for alarms. Default: the deployment creates one. */
  ALARM_TOPIC_ARN: '',
  /**
   * A KMS key for all that is stored, instead of AWS's own keys: queues, clusters table, logs, variables of functions,
   * the topic. The functions may also read secrets that it encrypts. docs/parameters.md has the policy that it needs.
   */
  KMS_KEY_ARN: '',
  /** The permissions boundary of every role: the ARN of a policy. */
  PERMISSIONS_BOUNDARY: '',
  /** The path of every role and policy, such as /outrigger/. */
  ROLE_PATH: '/',
  /**
   * Roles of other accounts whose watchers send to the queues, by ARN, comma-separated. A role of this account needs
   * the policy WatcherPolicyArn instead.
   */
  WATCHER_ROLES: '',
  /** s3://bucket/key in a bucket of this account and region, or ssm:/path/. By default the deployment has a bucket. */
  CLUSTERS_TABLE: '',
  /** The resync period of every controller, in seconds. By default each controller has its own. */
  RESYNC_PERIOD_SECONDS: '',
  /** The age in seconds at which a change that was not reconciled counts as missed; at least the visibility timeout. */
  RESYNC_MISSED_AFTER_SECONDS: '',
  /** The VPC of the functions: comma-separated ids. The subnets need a route to SQS, S3 and Secrets Manager. */
  VPC_SUBNET_IDS: '',
  VPC_SECURITY_GROUP_IDS: '',
  /** X-Ray traces: on or off. */
  TRACING: 'off',
  /**
   * An OTLP/HTTP collector for traces of the controllers, without /v1/traces, and headers for it. A key does not belong
   * in a variable of a function: the third option is the name of a secret with such headers, which only the functions
   * that send traces may read.
   */
  OTEL_EXPORTER_OTLP_ENDPOINT: '',
  OTEL_EXPORTER_OTLP_HEADERS: '',
  OTEL_EXPORTER_OTLP_HEADERS_SECRET: '',
  /** Whether the functions check who sent a message. Off only for emulated queues, which give every sender one id. */
  SENDER_CHECK: 'on',
  /** The ids (AROA...) of further roles that may request reconciles and nothing else, comma-separated. */
  SENDERS: '',
  /** DEBUG, INFO, WARN or ERROR. */
  LOG_LEVEL: 'INFO',
  /** Additional metrics for each cluster, which AWS charges for. */
  METRICS_PER_CLUSTER: 'false',
  /** Alarms, metrics and dashboard: full, lean (six alarms, no dashboard) or off. */
  MONITORING: 'full',
  /** The controllers that stay paused, comma-separated. outrigger pause prints the value. */
  PAUSED: '',
  /** Controllers that were removed, whose messages are deleted with their queues, comma-separated. */
  DISCARD: '',
} as const;

/** The URL of a queue without its name. */
export const queueUrlPrefix: JsonObject = {
  'Fn::Sub': `https://sqs.\${AWS::Region}.\${AWS::URLSuffix}/\${AWS::AccountId}/${namePrefix}`,
};

/** The options that every function has in its environment. */
const environmentOptions = ['LOG_LEVEL', 'METRICS_PER_CLUSTER', 'MONITORING', 'SENDER_CHECK', 'SENDERS'] as const;

/** The environment of every function, with variables of osls. */
export function environmentOf(deployment: Deployment): JsonObject {
  return named(
    {
      QUEUE_URL_PREFIX: queueUrlPrefix,
      ...Object.fromEntries(environmentOptions.map((name) => [name, parameter(name)])),
      PROJECT: deployment.project,
      // Stages and projects never share a metric: the resync of one would keep the alarm of the other silent.
      METRICS_NAMESPACE: metricsNamespace,
      // Names are resolved in half of libuv's threads, two by default. A batch has up to ten clusters: two whose names
      // hang would hold up those of the others, and of SQS.
      UV_THREADPOOL_SIZE: '32',
    },
    deployment,
  );
}

/** An option as a variable of osls. */
export function parameter(name: string, fallback?: number): string {
  return fallback === undefined ? `\${param:${name}}` : `\${param:${name}, ${fallback}}`;
}

/** Fills in the names of a deployment. */
export function named<T extends Json>(value: T, { project, stage }: Deployment): T {
  const names: Readonly<Record<string, string>> = {
    'self:service': project,
    'self:custom.stage': stage,
    'self:custom.prefix': `${project}-${stage}`,
    'self:custom.metricsNamespace': `${project}/${stage}`,
  };
  const text = JSON.stringify(value).replaceAll(/\$\{(self:[\w.]+)\}/g, (whole, name) => names[name] ?? whole);
  return JSON.parse(text);
}

/** Replaces the variables of options, as osls does: a text that is one variable becomes its value. */
export function withParameters(value: Json, given: Readonly<Record<string, unknown>>): unknown {
  if (typeof value === 'string') {
    const [, name, fallback] = /^\$\{param:(\w+)(?:, (\d+))?\}$/.exec(value) ?? [];
    if (name !== undefined) return given[name] ?? Number(fallback);
    return value;
  }
  if (Array.isArray(value)) return value.map((one) => withParameters(one, given));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => (one === undefined ? [] : [[name, withParameters(one, given)]])),
  );
}
