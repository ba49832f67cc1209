// The osls plugin that parses the options of a deployment and applies them to the template that osls compiled. An
// invalid option ends with a one-line error, before anything is packaged or uploaded.
import { checkFunctions } from './check-functions.ts';
import { checkNames } from './check-names.ts';
import { checkStack, type Provider } from './check-stack.ts';
import { type ControllerOption, readControllerOptions, withControllerOptions } from './controller-options.ts';
import { checkRegion, OptionError, type Options, readOptions, refuseUnknown } from './options.ts';
import { withPaused } from './paused.ts';
import type { Template } from './template.ts';
import { withOptions } from './with-options.ts';

/** The parts of osls that the plugin uses (its documentation, "Creating plugins"). */
type Osls = {
  readonly classes: { readonly Error: new (message: string, code: string) => Error };
  readonly processedInput: { readonly commands: readonly string[] };
  getProvider(name: 'aws'): Provider;
  readonly service: {
    /** The name of the service, which is the project. */
    readonly service: string;
    readonly custom: {
      readonly stage: string;
      readonly options: Readonly<Record<string, unknown>>;
      readonly settings: readonly string[];
      readonly controllerOptions: readonly ControllerOption[];
    };
    readonly provider: {
      readonly region: string;
      compiledCloudFormationTemplate: Template;
      readonly stackParameters: readonly { readonly ParameterKey: string; readonly ParameterValue: string }[];
    };
    readonly resources: { readonly Parameters: Readonly<Record<string, { readonly ConstraintDescription?: string }>> };
  };
};

/** Creates the plugin. osls calls this with `new`. */
export default function deploymentOptions(
  osls: Osls,
  { param = [] }: { readonly param?: readonly string[] },
): { readonly hooks: Readonly<Record<string, () => void | Promise<void>>> } {
  const { service } = osls;
  const withOneLineErrors = async (act: () => void | Promise<void>): Promise<void> => {
    try {
      await act();
    } catch (error) {
      if (error instanceof OptionError) throw new osls.classes.Error(error.message, 'OUTRIGGER_OPTION');
      throw error;
    }
  };
  const options = (): Options => readOptions(service.custom.options);
  return {
    hooks: {
      initialize: () =>
        withOneLineErrors(async () => {
          refuseUnknown(param, [
            ...service.custom.settings,
            ...service.custom.controllerOptions.map((one) => one.parameter),
          ]);
          options();
          readControllerOptions(service.custom.controllerOptions);
          const command = osls.processedInput.commands.join(' ');
          if (command === 'deploy') refuseMissing(service);
          if (/^(deploy|remove|rollback)/.test(command))
            await checkStack(osls.getProvider('aws'), { project: service.service, stage: service.custom.stage });
        }),
      'after:aws:package:finalize:mergeCustomProviderResources': () =>
        withOneLineErrors(() => {
          const { service: project, custom, provider } = service;
          checkRegion(options(), provider.region);
          const configured = withControllerOptions(
            withOptions(provider.compiledCloudFormationTemplate, options()),
            readControllerOptions(custom.controllerOptions),
          );
          const template = withPaused(configured, options().paused, `${project}-${custom.stage}-`);
          checkNames(template, { project, stage: custom.stage, region: provider.region });
          checkFunctions(template);
          service.provider.compiledCloudFormationTemplate = template;
        }),
    },
  };
}

/** Refuses missing parameters. CloudFormation refuses them too, but only after the upload. */
function refuseMissing({ provider, resources }: Osls['service']): void {
  for (const { ParameterKey, ParameterValue } of provider.stackParameters) {
    const needed = resources.Parameters[ParameterKey]?.ConstraintDescription;
    if (ParameterValue === '' && needed !== undefined) throw new OptionError(needed);
  }
}
