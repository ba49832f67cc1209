// The plugin `@outrigger/cli/serverless` of osls. A project's serverless.yml has its name, its region and what its
// author sets; the plugin adds the rest before osls resolves variables: functions, queues, roles, alarms, parameters,
// outputs (asyncInit and extendConfiguration: "Extending and overriding configuration" of its documentation). What the
// author writes is merged over it. An invalid option ends with a one-line error, before anything is packaged.
import path from 'node:path';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { toError } from 'outrigger/internal/core/errors';
import { isRecord } from 'outrigger/internal/core/json';
import { logicalId, resyncQueue } from 'outrigger/internal/core/names';
import { environment } from 'outrigger/internal/settings';
import { type Deployment, environmentOf, optionDefaults, parameter } from '../aws/deployment.ts';
import { environmentNames } from '../aws/parameters.ts';
import { awsOf } from '../aws/resources.ts';
import { checkRegistry } from '../project/check-registry.ts';
import { describeVersion } from '../project/deployed-version.ts';
import { runOwn } from '../project/own-module.ts';
import { loadProject, packageRoot, readNamespaces, readProjectName, readTextFile } from '../project/project.ts';
import { checkFunctions } from './check-functions.ts';
import { checkNames } from './check-names.ts';
import { checkStack } from './check-stack.ts';
import { checkControllerOptions, controllerParameters } from './controller-options.ts';
import { checkKept, checkRemovedQueues, readFormer, withGiven } from './former.ts';
import { checkRegion, OptionError, type Options, readOptions, refuseFormer, refuseUnknown } from './options.ts';
import type { Configuration, Osls } from './osls.ts';
import { withPaused } from './paused.ts';
import type { Template } from './template.ts';
import { withExisting, withOptions } from './with-options.ts';

/** The plugin. osls calls it with `new`. */
export default class OutriggerPlugin {
  readonly #osls: Osls;
  readonly #param: readonly string[];
  #registry: readonly ControllerDefinition[] = [];
  #deployment: Deployment = { project: '', stage: '' };
  /** What the author or the command gives, by name. */
  #given: Readonly<Record<string, unknown>> = {};
  /** What a removal leaves. */
  #table: string | undefined;
  /** The template of the stack before a deployment. */
  #former: Template | undefined;
  readonly hooks: Readonly<Record<string, () => Promise<void>>>;

  constructor(
    osls: Osls,
    { param = [] }: { readonly param?: readonly string[] },
    { log }: { readonly log: { notice(text: string): void } },
  ) {
    this.#osls = osls;
    this.#param = param;
    const explained = (act: () => Promise<void>) => async () => await this.#explained(act);
    const bundle = explained(async () => await buildBundles(osls.serviceDir));
    this.hooks = {
      initialize: explained(async () => await this.#check()),
      // `osls package`, `osls deploy` and `osls deploy function` never zip old bundles.
      'before:package:createDeploymentArtifacts': bundle,
      'before:package:function:package': bundle,
      // Before osls merges what the author has: that comes last, and also replaces what follows from an option.
      'before:aws:package:finalize:mergeCustomProviderResources': explained(async () => this.#addResources()),
      'after:aws:package:finalize:mergeCustomProviderResources': explained(async () => await this.#checkTemplate()),
      'after:remove:remove': async () => log.notice(this.#left),
    };
  }

  /** Adds the parts of the registry to the configuration. */
  async asyncInit(): Promise<void> {
    await this.#explained(async () => {
      const { serviceDir, configurationFilename, configurationInput: given, version } = this.#osls;
      if (Number.parseInt(version, 10) < oldestMajor)
        throw new OptionError(`this is osls ${version}; use osls ${oldestMajor}: npm install osls@${oldestMajor}`);
      const project = await readProjectName(serviceDir);
      if (given.service !== project)
        throw new OptionError(
          `serverless.yml: the service ${given.service} is not the project ${project}, which package.json names ` +
            '(outrigger.project); give both one name',
        );
      const stage = this.#osls.processedInput.options.stage ?? given.provider.stage ?? 'dev';
      const { registry } = await loadProject(serviceDir);
      checkRegistry(registry, project, await readNamespaces(serviceDir));
      this.#registry = registry;
      this.#deployment = { project, stage };
      if (given.custom?.outrigger !== undefined)
        throw new OptionError('serverless.yml: custom.outrigger has no effect; write its options under params');
      const text = await readTextFile(path.join(serviceDir, configurationFilename));
      refuseUnknown(this.#param, settingsOf(registry), given, text);
      const ofCommand = Object.fromEntries(
        this.#param.map((pair) => [pair.split('=', 1)[0], pair.replace(/^.*?=/, '')]),
      );
      this.#given = { ...given.params?.default, ...given.params?.[stage], ...ofCommand };
      checkControllerOptions(registry, this.#given);
      const { functions: declared, stackParameters } = awsOf(registry, this.#deployment);
      const description = environment().OUTRIGGER_VERSION || (await describeVersion(serviceDir));
      const described = { ...declared, [resyncQueue]: { ...declared[resyncQueue], description } };
      const functions = description === undefined ? declared : described;
      const extend = (name: string, value: unknown) => this.#osls.extendConfiguration(name.split('.'), value);
      extend('params.default', { ...optionDefaults, ...given.params?.default });
      extend('provider', providerOf(given.provider, this.#deployment, stackParameters));
      // Where osls resolves the options.
      const options = Object.fromEntries(Object.keys(optionDefaults).map((name) => [name, parameter(name)]));
      extend('custom', { ...given.custom, outrigger: options });
      // All code of our functions is in dist/. Searching node_modules for development dependencies takes longer than
      // zipping, and osls reads every folder that no pattern with /** leaves out.
      extend('package', { individually: true, excludeDevDependencies: false, patterns: ['!**/**'], ...given.package });
      // osls merges lists: what the author has of one of our functions is merged over ours.
      extend('functions', [functions, ...listOf(given.functions)]);
    });
  }

  get #options(): Options {
    const { outrigger } = this.#osls.service.custom;
    return readOptions(isRecord(outrigger) ? outrigger : {});
  }

  /** The resources. What follows from a timeout follows from the resolved one, which the author may have set. */
  get #resources(): Template {
    return awsOf(this.#registry, this.#deployment, this.#osls.service.functions).resources as Template;
  }

  async #check(): Promise<void> {
    const { service, processedInput } = this.#osls;
    void this.#options;
    const command = processedInput.commands.join(' ');
    if (command === 'deploy function') keepRoles(service.functions);
    if (command === 'deploy') refuseMissing(service, this.#resources);
    if (!/^(deploy|remove|rollback)/.test(command)) return;
    const aws = this.#osls.getProvider('aws');
    this.#table = await checkStack(aws, this.#deployment);
    if (command !== 'deploy') return;
    this.#former = await readFormer(aws);
    if (this.#former !== undefined)
      checkKept(this.#former, this.#allGiven, [...Object.keys(optionDefaults), ...settingsOf(this.#registry)]);
  }

  get #left(): string {
    const secrets = `${this.#deployment.project}/${this.#deployment.stage}`;
    const table = this.#table === undefined ? '' : `${this.#table}, `;
    return (
      `Left on AWS: ${table}the secrets ${secrets}/clusters/* and ${secrets}/settings/*, access entries in EKS, and ` +
      'roles of watchers. docs/run/decommission.md says how to delete them.'
    );
  }

  /** The beginning of the names of all queues. */
  get #prefix(): string {
    return `${this.#deployment.project}-${this.#deployment.stage}-`;
  }

  /** Everything that is given, with the resolved values. A setting may be a variable of the deploying process. */
  get #allGiven(): Readonly<Record<string, string>> {
    const { custom, provider } = this.#osls.service;
    const resolved = isRecord(custom.outrigger) ? custom.outrigger : {};
    const settings = environmentNames(this.#registry).filter((name) =>
      provider.stackParameters.some(
        ({ ParameterKey, ParameterValue }) => ParameterKey === logicalId(name) && ParameterValue !== '',
      ),
    );
    return {
      ...Object.fromEntries(settings.map((name) => [name, 'set'])),
      ...Object.fromEntries(
        Object.entries(this.#given).map(([name, value]) => [name, String(resolved[name] ?? value ?? '')]),
      ),
    };
  }

  #addResources(): void {
    const { provider } = this.#osls.service;
    checkRegion(this.#options, provider.region);
    const all = merged(provider.compiledCloudFormationTemplate, this.#resources) as Template;
    const configured = withOptions(all, this.#options);
    const paused = withPaused(configured, this.#options.paused, this.#prefix);
    provider.compiledCloudFormationTemplate = withGiven(paused, this.#allGiven);
  }

  async #checkTemplate(): Promise<void> {
    const { provider } = this.#osls.service;
    const next = withExisting(provider.compiledCloudFormationTemplate, this.#options);
    provider.compiledCloudFormationTemplate = next;
    const passed = provider.stackParameters.map(({ ParameterKey }) => ParameterKey);
    refuseFormer([...Object.keys(next.Parameters ?? {}), ...passed]);
    if (this.#former !== undefined)
      await checkRemovedQueues(this.#osls.getProvider('aws'), {
        former: this.#former,
        next,
        prefix: this.#prefix,
        discard: this.#options.discard,
      });
    checkNames(next, { ...this.#deployment, region: provider.region });
    checkFunctions(next, Object.keys(awsOf(this.#registry, this.#deployment).functions));
  }

  async #explained(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      const { name, message } = toError(error);
      if (['OptionError', 'UserError', 'SchemaError', 'ZodCopyError'].includes(name))
        throw new this.#osls.classes.Error(message, 'OUTRIGGER');
      throw error;
    }
  }
}

/** The names of what --param may give, besides options. */
function settingsOf(registry: readonly ControllerDefinition[]): readonly string[] {
  return [...environmentNames(registry), ...controllerParameters(registry)];
}

const oldestMajor = 4;

/** Leaves out the roles of the template, which osls would read as names. Without one a function keeps its own. */
function keepRoles(functions: Osls['service']['functions']): void {
  for (const one of Object.values(functions)) if (isRecord(one?.role)) delete one.role;
}

/** Bundles with the command, if a source has changed. A build that runs osls itself has just made them. */
async function buildBundles(root: string): Promise<void> {
  if (environment().OUTRIGGER_BUNDLES === 'built') return;
  await runOwn([path.join(packageRoot, 'bin/outrigger.js'), 'build', '--if-stale'], { cwd: root });
}

/** The provider of the author, with ours below it. */
function providerOf(
  given: Configuration['provider'],
  deployment: Deployment,
  stackParameters: readonly unknown[],
): object {
  const { project, stage } = deployment;
  return {
    runtime: 'nodejs24.x',
    architecture: 'arm64',
    memorySize: 256,
    deploymentBucket: { blockPublicAccess: true, versioning: true },
    ...given,
    // Applied to every resource that supports tags. checkStack compares them.
    stackTags: { ...given.stackTags, service: project, stage },
    // Settings of controllers: --param PLANT_URL=..., or the environment variable PLANT_URL of the deploying process.
    stackParameters: [...stackParameters, ...listOf(given.stackParameters)],
    environment: { ...environmentOf(deployment), ...given.environment },
  };
}

/** Merges records, deeply. Anything else is replaced. */
function merged(base: unknown, over: unknown): unknown {
  if (!isRecord(base) || !isRecord(over)) return over;
  const entries = Object.entries(over).map(([name, value]) => [name, name in base ? merged(base[name], value) : value]);
  return { ...base, ...Object.fromEntries(entries) };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

/** Refuses missing parameters. CloudFormation refuses them too, but only after the upload. */
function refuseMissing({ provider }: Osls['service'], { Parameters = {} }: Template): void {
  for (const { ParameterKey, ParameterValue } of provider.stackParameters) {
    const needed: unknown = Object(Parameters[ParameterKey]).ConstraintDescription;
    if (ParameterValue === '' && typeof needed === 'string') throw new OptionError(needed);
  }
}
