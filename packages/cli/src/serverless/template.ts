// A compiled template of CloudFormation, as far as the options of a deployment change it.

/** The properties of a resource. */
export type Properties = Readonly<Record<string, unknown>>;

/** A resource of a template. */
export type Resource = { readonly Type: string; readonly Properties?: Properties };

/** The parts of a template that options change. */
export type Template = {
  readonly Metadata?: Readonly<Record<string, unknown>>;
  readonly Parameters?: Readonly<Record<string, unknown>>;
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Outputs?: Readonly<Record<string, unknown>>;
};
