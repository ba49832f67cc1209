// MemcachedProxy, the kind: a tree of rules whose leaves name Services of memcached, and the settings of the proxy's
// pods.
//
// A structural schema cannot recurse, so the tree is unrolled. A deeper tree is rejected, not truncated.
import * as z from 'zod';
import { defineKind, withRule } from '../../outrigger.ts';

/** A Service's port: by number, or by the name that the Service gives it. */
export type PortReference = number | string;

/** A Service that a rule names. */
export type ServiceReference = {
  readonly name: string;
  /** Default: the namespace of the proxy. Another one is rejected (ResolvedRefs). */
  readonly namespace?: string | undefined;
  readonly port: PortReference;
};

/** A rule: how keys are distributed over a Service's endpoints, or over other rules. It has one of the two. */
export type Rule = {
  readonly type: 'sharded' | 'replicated';
  readonly service?: ServiceReference | undefined;
  readonly children?: readonly Rule[] | undefined;
};

const maxPort = 65_535;
const maxLabelLength = 63;
const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

const service = z.object({
  name: z.string().min(1).max(maxLabelLength).regex(dnsLabel),
  namespace: z.string().min(1).max(maxLabelLength).regex(dnsLabel).optional(),
  port: z
    .union([z.number().int().min(1).max(maxPort), z.string().min(1).max(maxLabelLength).regex(dnsLabel)])
    .meta({ 'x-kubernetes-int-or-string': true })
    .describe("The Service's port, by number or by name."),
});

const type = z
  .enum(['sharded', 'replicated'])
  .default('sharded')
  .describe('sharded: each key lives in one place. replicated: every key lives everywhere.');

/** Four levels are more than any known use. With more children, the API server would reject the rules as too costly. */
const maxDepth = 4;
const maxChildren = 16;

const oneOfBoth = 'exactly one of service and children must be given';
// If service were required here, a missing one would be the only error for a deeper tree: rules are not evaluated while
// required fields are missing.
const deepest = withRule(
  withRule(
    z.object({
      type,
      service: service.optional(),
      children: z.array(z.object({ type })).max(maxChildren).optional(),
    }),
    { rule: '!has(self.children)', message: `rules may be at most ${maxDepth} levels deep`, fieldPath: '.children' },
    (rule) => rule.children === undefined,
  ),
  { rule: 'has(self.service) || has(self.children)', message: oneOfBoth },
  (rule) => rule.service !== undefined || rule.children !== undefined,
);
const third = ruleOver(deepest);
/**
 * Every leaf is a Service that has to be read, a pool in the configuration, and a line of the status. A rule of the
 * second level has at most 16 leaves, so a proxy has at most 256. A sum of the leaves would be too costly for CEL.
 */
const second = withRule(
  ruleOver(third),
  {
    rule:
      '!has(self.children) || self.children.all(c, !has(c.children) || ' +
      `self.children.size() * c.children.size() <= ${maxChildren})`,
    message: `the number of children, times that of the children of one of them, may be at most ${maxChildren}`,
    fieldPath: '.children',
  },
  ({ children = [] }) => children.every((child) => children.length * (child.children ?? []).length <= maxChildren),
);
const rules = ruleOver(second);

/** A rule whose children are of the given kind. */
function ruleOver<S extends z.ZodType>(child: S) {
  return withRule(
    z.object({
      type,
      service: service.optional(),
      children: z.array(child).min(1).max(maxChildren).optional(),
    }),
    { rule: 'has(self.service) != has(self.children)', message: oneOfBoth },
    (rule) => (rule.service === undefined) !== (rule.children === undefined),
  );
}

/** The image of mcrouter for this kind. An empty image counts as this one. */
export const defaultImage = 'ianmlewis/mcrouter:v0.36.0-2';

/** A container has few resources: cpu, memory, ephemeral-storage, huge pages, and those of devices. */
const maxResources = 16;
const quantity = z.union([z.number().int(), z.string().max(63)]).meta({ 'x-kubernetes-int-or-string': true });
const quantities = z.record(z.string(), quantity).meta({ maxProperties: maxResources }).exactOptional();

const mcrouter = z.object({
  image: z.string().max(1000).default(defaultImage),
  port: z.number().int().min(1).max(maxPort).default(11_211).describe('Where the proxy, and its Service, listen.'),
  statsRoot: withRule(
    z
      .string()
      .max(255)
      .regex(/^\/[^:]*$/),
    {
      rule: "!self.contains('..') && !self.matches('^/*(etc/mcrouter(/.*)?)?/*$')",
      message: 'must not contain .., nor be / or in /etc/mcrouter',
    },
    (path) => !path.includes('..') && !/^\/*(etc\/mcrouter(\/.*)?)?\/*$/.test(path),
  ).default('/var/mcrouter/stats'),
  resources: z.object({ requests: quantities, limits: quantities }).exactOptional(),
});

/** Leaves room for the longest name that contains it, `<name>-memcached-<hash>` of a Service (63). */
const maxNameLength = 47;

/** The kind. */
export const MemcachedProxy = defineKind({
  group: 'cache.example.com',
  version: 'v1',
  kind: 'MemcachedProxy',
  spec: z.object({ rules, mcrouter: mcrouter.prefault({}) }),
  status: z.object({
    configMapName: z.string().optional().describe('The configuration that is being rolled out.'),
    deploymentName: z.string().optional(),
    serviceName: z.string().optional().describe('Where clients connect, whatever happens behind it.'),
    pools: z
      .array(
        z.object({
          service: z.string(),
          port: z.string(),
          servers: z.number().int().describe('How many are in the configuration.'),
        }),
      )
      .describe('What the rules name, once each.'),
  }),
  conditions: ['ResolvedRefs', 'ConfigReady', 'DeploymentAvailable', 'ServiceReady'],
  columns: { Service: '.status.serviceName', Config: '.status.configMapName' },
  nameRule: {
    rule: `size(self.metadata.name) <= ${maxNameLength} && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')`,
    message:
      `a name begins with a letter and has at most ${maxNameLength} letters, digits and -, ` +
      'because its Service is named after it',
  },
});

/** A proxy's spec with its defaults. */
export type ProxySpec = ReturnType<typeof MemcachedProxy.read>['spec'];
