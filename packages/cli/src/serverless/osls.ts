// The parts of osls that the plugin uses (its documentation, "Creating plugins").
import type { Provider } from './check-stack.ts';
import type { Template } from './template.ts';

type Fields = Readonly<Record<string, unknown>>;

/** serverless.yml, while plugins may extend it. Its variables are not resolved yet. */
export type Configuration = {
  readonly service: string;
  readonly provider: {
    readonly stage?: string;
    readonly stackTags?: Fields;
    readonly stackParameters?: unknown;
    readonly environment?: Fields;
  };
  readonly params?: Readonly<Record<string, Fields | undefined>>;
  readonly custom?: Fields;
  readonly package?: Fields;
  readonly functions?: unknown;
};

export type Osls = {
  readonly version: string;
  readonly serviceDir: string;
  /** The name of serverless.yml in the folder. */
  readonly configurationFilename: string;
  readonly classes: { readonly Error: new (message: string, code: string) => Error };
  readonly processedInput: { readonly commands: readonly string[]; readonly options: { readonly stage?: string } };
  readonly configurationInput: Configuration;
  extendConfiguration(path: readonly string[], value: unknown): void;
  getProvider(name: 'aws'): Provider & { getStage(): string };
  readonly service: {
    /** The name of the service, which is the project. */
    readonly service: string;
    readonly custom: Fields;
    readonly functions: Readonly<Record<string, { readonly timeout?: number; role?: unknown } | undefined>>;
    readonly provider: {
      readonly region: string;
      compiledCloudFormationTemplate: Template;
      readonly stackParameters: readonly { readonly ParameterKey: string; readonly ParameterValue: string }[];
    };
  };
};
