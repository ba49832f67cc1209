// The option PAUSED: the controllers whose event source mappings stay disabled. `outrigger pause` disables a mapping at
// once, and prints the option for the next deployments: CloudFormation would enable the mapping again when it changes
// one of its properties.
import { OptionError } from './options.ts';
import type { Template } from './template.ts';

/** Disables the mappings of these controllers. Throws OptionError for a name without a queue in the template. */
export function withPaused<T extends Template>(template: T, paused: readonly string[], prefix: string): T {
  const resources = { ...template.Resources };
  const controllers = new Map(
    Object.entries(template.Resources).flatMap(([id, { Type, Properties }]) => {
      const name = String(Properties?.QueueName ?? '');
      if (Type !== 'AWS::SQS::Queue' || !name.startsWith(prefix) || !name.endsWith('.fifo')) return [];
      return name.endsWith('-dlq.fifo') ? [] : [[name.slice(prefix.length, -'.fifo'.length), id] as const];
    }),
  );
  for (const name of paused) {
    const queue = controllers.get(name);
    if (queue === undefined)
      throw new OptionError(
        `PAUSED: there is no controller ${name}; use some of ${[...controllers.keys()].join(', ')}`,
      );
    for (const [id, resource] of Object.entries(resources)) {
      if (resource.Type !== 'AWS::Lambda::EventSourceMapping') continue;
      const { EventSourceArn } = resource.Properties ?? {};
      if (JSON.stringify(EventSourceArn)?.includes(`"${queue}"`) !== true) continue;
      resources[id] = { ...resource, Properties: { ...resource.Properties, Enabled: false } };
    }
  }
  return { ...template, Resources: resources };
}
