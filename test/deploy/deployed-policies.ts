// The policies that a packaged template would deploy, by their function, to compare calls with them.

import { localRegion } from '@outrigger/cli/dev/lambda/account';
import { createResolve, parseTemplate } from '@outrigger/cli/dev/lambda/template';
import * as z from 'zod';
import { type QueueStatement, queueStatementsOf, type Statement, statementsOf } from './policy.ts';

/** The statements of each function's role, by the function's name, and of the `watcher`. */
export type DeployedPolicies = ReadonlyMap<string, readonly Statement[]>;

const shape = z.object({
  RoleName: z.string().optional(),
  Policies: z.array(z.object({ PolicyDocument: z.unknown() })).optional(),
  PolicyDocument: z.unknown().optional(),
});

/**
 * Reads the policies from a packaged template's text. Throws for a template that cannot be resolved here, and for
 * unsupported policies.
 */
export function deployedPolicies(templateText: string): DeployedPolicies {
  const template = parseTemplate(templateText);
  const resolve = createResolve(template, { parameters: { PlantUrl: 'x', PantryUrl: 'x' } });
  return new Map(
    Object.entries(template.Resources)
      .filter(([, { Type }]) => Type === 'AWS::IAM::Role' || Type === 'AWS::IAM::ManagedPolicy')
      .map(([id, { Properties }]) => {
        const { RoleName, Policies, PolicyDocument } = shape.parse(resolve(Properties, id));
        const documents = Policies?.map((one) => one.PolicyDocument) ?? [PolicyDocument];
        const holder = id === 'WatcherPolicy' ? 'watcher' : id;
        return [RoleName?.slice(0, -`-${localRegion}`.length) ?? holder, documents.flatMap(statementsOf)];
      }),
  );
}

const queuePolicy = z.object({ Queues: z.array(z.object({ Ref: z.string() })), PolicyDocument: z.unknown() });

/** Reads the policies of the queues of a packaged template, by the queue's name. Throws for an unsupported one. */
export function deployedQueuePolicies(templateText: string): ReadonlyMap<string, readonly QueueStatement[]> {
  const { Resources } = parseTemplate(templateText);
  return new Map(
    Object.values(Resources)
      .filter(({ Type }) => Type === 'AWS::SQS::QueuePolicy')
      .map(({ Properties }) => queuePolicy.parse(Properties))
      .flatMap(({ Queues, PolicyDocument }) =>
        Queues.map(({ Ref }) => [
          String(Object(Resources[Ref]?.Properties).QueueName),
          queueStatementsOf(PolicyDocument),
        ]),
      ),
  );
}
